// Files of other programs in the database's directory stay there, and cause no errors.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "world_fixture.h"

namespace bigtable {
namespace {

namespace fs = std::filesystem;

class StrayFilesTest : public WorldFixture {
 protected:
  void PutFile(const std::string& path) {
    std::ofstream(Place(path)) << "mine";
    strays_.push_back(path);
  }
  // A directory with a file in it.
  void PutDirectory(const std::string& path) {
    fs::create_directories(Place(path));
    PutFile(path + "/file");
  }
  std::string Place(const std::string& path) const { return directory_.database() + "/" + path; }
  void ExpectStrays() {
    for (const std::string& path : strays_) {
      std::string text;
      std::ifstream(Place(path)) >> text;
      EXPECT_EQ(text, "mine") << path;
    }
  }
  // Leaves the database as if its process had been killed: the logs stay.
  void CreateAndKill() {
    EXPECT_TRUE(InChild([&] {
      Database* const database = Create(directory_.database()).release();
      return Write(database, "early", 50).ok();
    }));
  }
  void PutEverywhere() {
    PutFile("file");
    PutDirectory("lost+found");
    PutFile("log/file");
    PutFile("log/server-");
    PutFile("log/server-12.bak");
    PutFile("log/notes-12");
    PutDirectory("log/lost+found");
    PutFile("sst/file");
    PutDirectory("sst/lost+found");
    PutDirectory("lockservice/lost+found");
    fs::create_directories(Place("sorted"));
    PutFile("sorted/file");
    PutDirectory("sorted/lost+found");
    PutFile("lockservice/servers/.server-1.swp");
    for (const auto& log : fs::directory_iterator(Place("log"))) {
      const std::string name = log.path().filename();
      if (!name.starts_with("server-") || !log.is_directory()) continue;
      PutFile("log/" + name + "/file");
      PutDirectory("log/" + name + "/lost+found");
    }
  }

  std::vector<std::string> strays_;
};

TEST_F(StrayFilesTest, StayAndPreventNoOpening) {
  CreateAndKill();
  PutEverywhere();
  for (int i = 0; i < 3; ++i) {
    auto database = Open(directory_.database());
    ASSERT_NE(database, nullptr);
    EXPECT_EQ(Count(database.get(), "early", 50), 50);
    EXPECT_OK(Write(database.get(), Cat("late", i), 50));
    EXPECT_OK(database->Flush("t"));
    EXPECT_EQ(Count(database.get(), Cat("late", i), 50), 50);
    EXPECT_OK(database->Close());
    ExpectStrays();
  }
}

TEST_F(StrayFilesTest, AreReported) {
  CreateAndKill();
  PutFile("log/file");
  PutDirectory("log/lost+found");
  fs::create_directories(Place("sorted"));
  PutDirectory("sorted/other");
  auto database = Open(directory_.database());
  std::ifstream file(Place("LOG"));
  const std::string log(std::istreambuf_iterator<char>(file), {});
  for (const std::string name : {"log/file", "log/lost+found", "sorted/other"}) {
    EXPECT_NE(log.find(Place(name) + " is not the database's"), log.npos) << log;
  }
}

TEST_F(StrayFilesTest, PreventTheCreationOfADatabaseBesideThem) {
  fs::create_directory(directory_.database());
  PutFile("passwd");
  const auto expect_untouched = [&] {
    ExpectStrays();
    EXPECT_EQ(std::distance(fs::directory_iterator(directory_.database()), {}), 1);
  };
  EXPECT_STATUS(kFailedPrecondition, "no database here, but other files, such as \"passwd\"",
                Database::Open(directory_.database(), SmallOptions()));
  expect_untouched();
  DatabaseOptions options = SmallOptions();
  options.create_if_missing = false;
  EXPECT_STATUS(kNotFound, "there is no database here",
                Database::Open(directory_.database(), options));
  expect_untouched();

  options = SmallOptions();
  options.allow_foreign_files = true;
  auto database = Create(directory_.database(), options);
  EXPECT_OK(Write(database.get(), "early", 5));
  EXPECT_OK(database->Close());
  // Now there is a database, which is opened whatever is beside it.
  database = Open(directory_.database());
  EXPECT_EQ(Count(database.get(), "early", 5), 5);
  ExpectStrays();
}

TEST_F(StrayFilesTest, OfANewFileSystemPreventNoCreation) {
  fs::create_directory(directory_.database());
  PutDirectory("lost+found");
  PutFile("aquota.user");
  PutFile(".hidden");
  auto database = Create(directory_.database());
  EXPECT_OK(Write(database.get(), "early", 5));
  EXPECT_OK(database->Close());
  ExpectStrays();
}

TEST_F(StrayFilesTest, WhatAnInterruptedCreationLeavesPreventsNone) {
  for (const std::string name : {"lockservice", "log", "sst", "sorted"}) {
    fs::create_directories(Place(name));
  }
  for (const std::string name : {"LOCK", "LOG", "LOG.old", "OPTIONS", "OPTIONS~"}) {
    std::ofstream(Place(name)) << "";
  }
  auto database = Create(directory_.database());
  EXPECT_OK(Write(database.get(), "early", 5));
}

TEST_F(StrayFilesTest, DoNotTurnADirectoryIntoADatabaseWithoutRoot) {
  fs::create_directory(directory_.database());
  PutDirectory("sst/lost+found");
  auto database = Create(directory_.database());
  EXPECT_OK(Write(database.get(), "early", 5));
  EXPECT_OK(database->Close());
  ExpectStrays();
}

}  // namespace
}  // namespace bigtable
