// The program and a server: callers that must say who they are, TLS, a server that ends, many
// verbs at a time. Where nothing is said, testdata/both and testdata/server show what it does.
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tools/program.h"

namespace bigtable {
namespace {

using testing::HasSubstr;
using testing::Not;

#ifdef BIGTABLE_SERVER_PROGRAM

// A shell, and a server with options of its own.
class ServerOptionsTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> options) {
    server_ = std::make_unique<ServerProcess>(shell_.path() + "/guarded", std::move(options));
  }
  ProgramResult Run(const std::string& words) {
    return shell_.Run("unset BIGTABLE_DIRECTORY; bigtable --server " + address() + " " + words);
  }
  std::string address() const { return server_->address(); }
  std::string Path(const std::string& name) const { return shell_.path() + "/" + name; }

  Shell shell_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(ServerOptionsTest, ATokenIsSentFromItsFile) {
  shell_.Write("tokens", "alice 0123456789abcdef\n");
  shell_.Write("mine", "0123456789abcdef\n");
  shell_.Write("other", "fedcba9876543210\n");
  Start({"--tokens", Path("tokens"), "--administrators", "alice"});
  EXPECT_EQ(Run("--token-file mine createtable t families=f").code, 0);
  EXPECT_EQ(Run("--token-file mine set t r f:x=1").code, 0);
  EXPECT_EQ(Run("--token-file mine count t").out, "1\n");
  for (const std::string options : {"", "--token-file other "}) {
    const ProgramResult refused = Run(options + "count t");
    EXPECT_EQ(refused.code, 1) << options;
    EXPECT_THAT(refused.err, HasSubstr("bigtable count: ")) << options;
  }
}

TEST_F(ServerOptionsTest, CertificatesOfBothSidesAreChecked) {
  const std::string make =
      "q='openssl req -x509 -newkey rsa:2048 -nodes -days 1'; "
      "$q -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -out s.pem -keyout s.key && "
      "$q -subj /CN=alice -out c.pem -keyout c.key && $q -subj /CN=eve -out e.pem -keyout e.key";
  if (shell_.Run(make).code != 0) GTEST_SKIP() << "the program openssl is not installed";
  Start({"--certificate", Path("s.pem"), "--key", Path("s.key"), "--client-authority",
         Path("c.pem"), "--administrators", "alice"});
  const std::string alice =
      "--root-certificates s.pem --client-certificate c.pem --client-key c.key --retry-for 0s ";
  const ProgramResult done = Run(alice + "createtable t families=f");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(Run(alice + "ls").out, "t\n");
  for (const std::string options :
       {"--retry-for 0s ls", "--root-certificates s.pem --retry-for 0s ls",
        "--tls --client-certificate c.pem --client-key c.key --retry-for 0s ls",
        "--root-certificates s.pem --client-certificate e.pem --client-key e.key --retry-for 0s "
        "ls"}) {
    const ProgramResult refused = Run(options);
    EXPECT_EQ(refused.code, 1) << options << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("bigtable ls: server " + address())) << options;
  }
}

TEST_F(ServerOptionsTest, TheProjectAndInstanceAreThoseOfTheOptions) {
  Start({"--project", "p", "--instance", "i"});
  EXPECT_EQ(Run("--project p --instance i createtable t families=f").code, 0);
  EXPECT_EQ(Run("--project p --instance i ls").out, "t\n");
  EXPECT_EQ(Run("--project p --instance j ls").out, "");
  EXPECT_EQ(Run("--project q --instance i ls").out, "");
  EXPECT_EQ(Run("ls t").code, 3);
}

TEST_F(ServerOptionsTest, AServerThatHasEndedIsNamed) {
  Start({});
  EXPECT_EQ(Run("createtable t families=f").code, 0);
  const std::string address = server_->address();
  server_->Kill();
  const ProgramResult result = Run("--retry-for 0s set t r f:x=1");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("bigtable set: server " + address + ": "));
  // A person who waits sees why, unless the call is quiet.
  const ProgramResult waits =
      shell_.Run("unset BIGTABLE_DIRECTORY; list='bigtable --server " + address +
                 " --retry-for 3s ls'; $list --quiet 2> quiet & $list; wait; cat quiet");
  EXPECT_THAT(waits.err, HasSubstr("bigtable: server " + address + " is tried again: "));
  EXPECT_THAT(waits.out, HasSubstr("bigtable ls: server " + address + ": "));
  EXPECT_THAT(waits.out, Not(HasSubstr("is tried again")));
  // What it has served is a directory again, with a log.
  EXPECT_THAT(shell_.Output("bigtable -d guarded log"), HasSubstr("server-"));
  EXPECT_EQ(
      shell_.Output("bigtable -d guarded ls t --json"),
      "{\"family\":\"f\",\"gc\":\"never\",\"type\":\"bytes\",\"locality_group\":\"default\"}\n");
}

TEST(ServerConcurrencyTest, VerbsOfSeveralProcessesWriteAtATime) {
  Shell shell(Place::kServer);
  shell.Output("bigtable createtable t families=f");
  shell.Output(
      "for i in 1 2 3 4; do (for j in 1 2 3 4 5; do bigtable set t r$i$j f:x=$j || exit 1; done) & "
      "done; wait");
  EXPECT_EQ(shell.Output("bigtable count t"), "20\n");
}

#else

TEST(NoServerTest, AServerIsRefusedWithWhatIsMissing) {
  Shell shell;
  const ProgramResult result =
      shell.Run("unset BIGTABLE_DIRECTORY; bigtable --server 127.0.0.1:8086 ls");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("was built without bigtable::remote"));
}

#endif

}  // namespace
}  // namespace bigtable
