// bigtable [--directory DIR] VERB ...: the command line of the engine, for people and for scripts.
// docs/command-line.md describes it. This file makes the command line of CLI11 from the verbs'
// descriptions (verb.h), runs the verb that was named, and turns its status into an exit code.
#include <algorithm>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

#include "tools/plugin.h"
#include "tools/session.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"
#include <CLI/CLI.hpp>

namespace bigtable::tools {
namespace {

// What CLI11 has read for a verb.
struct ParsedVerb {
  Verb verb;
  CLI::App* app = nullptr;
  std::deque<std::string> words;    // in the order of verb.words
  std::vector<std::string> more;    // of verb.more, or key=value
  std::deque<std::string> options;  // in the order of verb.options
  std::deque<bool> flags;
};

struct GlobalOptions {
  Session::Options session;
  std::vector<std::string> plugins;
  bool escapes = false;
};

// What CLI11's own help does not have: keys, notes, examples.
std::string Footer(const Verb& verb) {
  std::string text;
  if (!verb.keys.empty()) {
    text += "Arguments:\n";
    for (const Verb::Word& key : verb.keys) {
      std::string name = Cat("  ", key.name, "=...");
      name.resize(std::max<size_t>(name.size() + 2, 30), ' ');
      text += Cat(name, key.meaning, "\n");
    }
    text += "\n";
  }
  if (!verb.notes.empty()) text += verb.notes + "\n\n";
  text += verb.examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const std::string& example : verb.examples) text += Cat("  ", example, "\n");
  return text;
}

void AddVerb(CLI::App* app, ParsedVerb* parsed) {
  const Verb& verb = parsed->verb;
  parsed->app = app->add_subcommand(verb.name, verb.summary);
  for (const Verb::Word& word : verb.words) {
    CLI::Option* option =
        parsed->app->add_option(word.name, parsed->words.emplace_back(), word.meaning);
    option->required(word.required)->type_name("");
  }
  if (verb.more.has_value()) {
    parsed->app->add_option(verb.more->name, parsed->more, verb.more->meaning)
        ->required(verb.more->required)
        ->type_name("");
  } else if (!verb.keys.empty()) {
    parsed->app->add_option("key=value", parsed->more, "see below")->type_name("");
  }
  for (const Verb::Option& option : verb.options) {
    const std::string name = "--" + option.name;
    std::string* value = &parsed->options.emplace_back();
    bool* flag = &parsed->flags.emplace_back(false);
    if (option.value.empty()) {
      parsed->app->add_flag(name, *flag, option.meaning);
    } else {
      parsed->app->add_option(name, *value, option.meaning)->type_name(option.value);
    }
  }
  parsed->app->footer(Footer(verb));
}

absl::StatusOr<Arguments> ArgumentsOf(const ParsedVerb& parsed, const GlobalOptions& global) {
  const Verb& verb = parsed.verb;
  Arguments arguments(global.escapes);
  for (size_t i = 0; i < verb.words.size(); ++i) {
    if (parsed.app->count(verb.words[i].name) > 0) {
      arguments.SetPositional(verb.words[i].name, parsed.words[i]);
    }
  }
  for (size_t i = 0; i < verb.options.size(); ++i) {
    if (parsed.app->count("--" + verb.options[i].name) > 0) {
      arguments.SetOption(verb.options[i].name, parsed.options[i]);
    }
  }
  arguments.SetWords(parsed.more);
  if (!verb.more.has_value()) {
    std::vector<std::string> keys;
    for (const Verb::Word& key : verb.keys) keys.push_back(key.name);
    TOOLS_RETURN_IF_ERROR(arguments.ReadKeys(keys));
  }
  return arguments;
}

// Runs the verb on the database that the options name.
absl::Status RunVerb(const ParsedVerb& parsed, GlobalOptions global) {
  const Verb& verb = parsed.verb;
  for (const std::string& plugin : global.plugins) TOOLS_RETURN_IF_ERROR(LoadPlugin(plugin));
  TOOLS_RETURN_IF_ERROR(SettleLocation(verb.needs_database, &global.session.location));
  if (global.session.location.is_server() && !verb.not_on_server.empty()) {
    const char* const remedy = !verb.needs_database ? ""
                               : verb.may_be_open_elsewhere
                                   ? "; give --directory DIR"
                                   : "; stop the server and give --directory DIR";
    return UsageError(Cat(verb.name, " does not work on a server: ", verb.not_on_server, remedy));
  }
  TOOLS_ASSIGN_OR_RETURN(const Arguments arguments, ArgumentsOf(parsed, global));
  Session session(global.session, &std::cin, &std::cout, &std::cerr);
  return session.Close(verb.run(session, arguments));
}

ExitCode Run(const ParsedVerb& parsed, const GlobalOptions& global) {
  absl::Status status = RunVerb(parsed, global);
  std::cout.flush();
  if (status.ok() && !std::cout.good()) {
    status = StreamError("the output could not be written");
  }
  if (status.ok()) return kDone;
  std::cerr << "bigtable " << parsed.verb.name << ": " << MessageOf(status) << "\n";
  const ExitCode code = ExitCodeOf(status);
  if (code == kUsage) std::cerr << "See `bigtable " << parsed.verb.name << " --help`.\n";
  return code;
}

// What is wrong with a command line without a verb.
std::string NoVerb(const CLI::App& app, const std::vector<std::string>& words,
                   const std::vector<std::string>& verbs) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    // The first word that is no option, nor the value of one, should have been the verb.
    const CLI::Option* const option =
        word.starts_with("-") ? app.get_option_no_throw(word) : nullptr;
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;
    if (word.empty() || word[0] == '-') continue;
    return Cat("there is no verb ", Quoted(word), DidYouMean(word, verbs));
  }
  return "a verb is missing, as in `bigtable ls`";
}

// CLI11 reports a wrong command line, and --help, by throwing: nothing else here throws.
int ExitAfterParseError(const CLI::App& app, const std::vector<std::string>& verbs,
                        const CLI::ParseError& error, const std::vector<std::string>& words) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  const std::vector<CLI::App*> used = app.get_subcommands();
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (used.empty()) {
    std::cerr << "bigtable: " << (lacks_value ? error.what() : NoVerb(app, words, verbs)) << "\n";
  } else {
    std::cerr << "bigtable " << used[0]->get_name() << ": " << error.what() << "\n";
  }
  std::cerr << "See `bigtable " << (used.empty() ? "" : used[0]->get_name() + " ") << "--help`.\n";
  return kUsage;
}

void AddServerOptions(CLI::App* app, Location* location) {
  const auto add = [&](const char* name, std::string* value, const char* type,
                       const char* meaning) {
    app->add_option(name, *value, meaning)->type_name(type)->group("Database on a server");
  };
  const auto add_flag = [&](const char* name, bool* value, const char* meaning) {
    app->add_flag(name, *value, meaning)->group("Database on a server");
  };
  add("-s,--server", &location->server, "HOST:PORT",
      "The server of the database, such as bigtable-server, instead of --directory; else "
      "BIGTABLE_SERVER");
  add("--project", &location->project, "NAME", "The project of the tables (local)");
  add("--instance", &location->instance, "NAME", "The instance of the tables (local)");
  add("--app-profile", &location->app_profile, "NAME", "By which Cloud Bigtable routes calls");
  add_flag("--tls", &location->tls, "Encrypt, and trust the certificates of the system");
  add("--root-certificates", &location->root_certificates, "FILE",
      "Encrypt, and trust these certificates, PEM");
  add("--client-certificate", &location->client_certificate, "FILE",
      "The certificate of the caller, PEM");
  add("--client-key", &location->client_key, "FILE", "Its key, PEM");
  add("--token-file", &location->token_file, "FILE", "The bearer token of the caller");
  add_flag("--plaintext", &location->plaintext, "Allow another machine without TLS");
  add_flag("--google", &location->google,
           "Google's own credentials; without --server: Cloud Bigtable");
  add("--retry-for", &location->retry_for, "TIME",
      "How long a call is tried again after errors that may pass (10s)");
}

void AddGlobalOptions(CLI::App* app, GlobalOptions* global) {
  Session::Options& session = global->session;
  app->add_option("-d,--directory", session.location.directory,
                  "The directory of the database; else BIGTABLE_DIRECTORY")
      ->type_name("DIR");
  app->add_flag("--json", session.json, "Print JSON, one object a line");
  app->add_flag("-e,--escapes", global->escapes,
                "Read escapes in rows, columns and values as they are printed: \\x00");
  app->add_flag("-q,--quiet", session.quiet, "Print no progress");
  app->add_option("--plugin", global->plugins,
                  "A shared library with operators, filters and policies; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddServerOptions(app, &session.location);
}

// `bigtable help VERB` is `bigtable VERB --help`, and `bigtable help` is `bigtable --help`. False:
// there is no such verb, which is reported.
bool ReadHelp(const std::vector<std::string>& verbs, std::vector<std::string>* words) {
  if (words->empty() || words->front() != "help") return true;
  words->erase(words->begin());
  if (!words->empty() && std::find(verbs.begin(), verbs.end(), words->front()) == verbs.end()) {
    std::cerr << "bigtable help: there is no verb " << Quoted(words->front())
              << DidYouMean(words->front(), verbs) << "\nSee `bigtable --help`.\n";
    return false;
  }
  words->push_back("--help");
  return true;
}

int Main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::vector<std::string> words(argv + 1, argv + argc);
  CLI::App app("Works on a bigtable database, in a directory or on a server.", "bigtable");
  app.set_version_flag("--version", std::string("bigtable ") + BIGTABLE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Examples:\n"
      "  bigtable --directory /tmp/web createtable webtable families=anchor,contents\n"
      "  bigtable --server 127.0.0.1:8086 read webtable prefix=com.cnn\n\n"
      "`bigtable help VERB` describes a verb, with examples. Exit codes: 0 done, 1 the database "
      "refused or failed,\n2 wrong usage, 3 nothing found. Words that begin with - follow --.");

  GlobalOptions global;
  AddGlobalOptions(&app, &global);

  std::deque<ParsedVerb> verbs;  // pointers into them stay valid
  std::vector<std::string> names;
  for (Verb& verb : AllVerbs()) {
    names.push_back(verb.name);
    verbs.push_back({.verb = std::move(verb)});
    AddVerb(&app, &verbs.back());
  }
  if (!ReadHelp(names, &words)) return kUsage;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes the last first
  } catch (const CLI::ParseError& error) {
    return ExitAfterParseError(app, names, error, words);
  }
  for (const ParsedVerb& parsed : verbs) {
    if (parsed.app->parsed()) return Run(parsed, global);
  }
  return kUsage;
}

}  // namespace
}  // namespace bigtable::tools

int main(int argc, char** argv) { return bigtable::tools::Main(argc, argv); }
