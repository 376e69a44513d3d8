// Random requests to every admin method: none ends the server or leaves it unable to answer, and an
// error is one of those that a request can cause.
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "gtest/gtest.h"

#include "server/admin_fixture.h"
#include "server/text/errors.h"
#include "support/random.h"

namespace bigtable::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Texts that a field of this name can have, as far as they fit together now and then.
const std::vector<std::string>& TextsOf(const std::string& field) {
  static const std::map<std::string, std::vector<std::string>> kTexts = {
      {"parent",
       {"projects/p", "projects/p/instances/default", "projects/p/instances/first-one",
        "projects/p/instances/-"}},
      {"name",
       {"projects/p/instances/default", "projects/p/instances/first-one",
        "projects/p/instances/default/tables/t", "projects/p/instances/first-one/tables/u",
        "projects/p/instances/first-one/clusters/cluster-1",
        "projects/p/instances/default/clusters/default-c1",
        "projects/p/instances/first-one/appProfiles/default", "operations"}},
      {"location", {"projects/p/locations/z"}},
      {"table_id", {"t", "u"}},
      {"instance_id", {"first-one", "other-one"}},
      {"cluster_id", {"cluster-1", "default-c1"}},
      {"app_profile_id", {"default", "batch"}},
      {"id", {"f", "g"}},
      {"key", {"f", "g", "cluster-1", "cluster-2"}},
      {"paths",
       {"deletion_protection", "gc_rule", "labels", "display_name", "serve_nodes",
        "cluster_config.cluster_autoscaling_config", "multi_cluster_routing_use_any.cluster_ids",
        "description", "name"}},
  };
  static const std::vector<std::string> kOther = {"",
                                                  "t",
                                                  "-",
                                                  "/",
                                                  "*",
                                                  "a..b",
                                                  "server..catalogue",
                                                  "projects//instances/",
                                                  "\n",
                                                  std::string(300, 'x'),
                                                  std::string(100'000, 'y')};
  const auto found = kTexts.find(field);
  return found == kTexts.end() ? kOther : found->second;
}

std::string RandomText(Random& random, const FieldDescriptor& field) {
  return random.Pick(TextsOf(random.OneIn(8) ? "" : field.name()));
}

int RandomNumber(Random& random) {
  static const std::vector<int> kNumbers = {0, 1, 2, 3, 30, 100, -1, 2147483647};
  return random.Pick(kNumbers);
}

void Fill(Random& random, int depth, Message* message);

// Sets the field, or adds to it.
void FillField(Random& random, int depth, const FieldDescriptor* field, Message* message) {
  const auto* const reflection = message->GetReflection();
  const bool adds = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = RandomText(random, *field);
      return adds ? reflection->AddString(message, field, text)
                  : reflection->SetString(message, field, text);
    }
    case FieldDescriptor::CPPTYPE_INT32:
      return adds ? reflection->AddInt32(message, field, RandomNumber(random))
                  : reflection->SetInt32(message, field, RandomNumber(random));
    case FieldDescriptor::CPPTYPE_INT64:
      return adds ? reflection->AddInt64(message, field, RandomNumber(random))
                  : reflection->SetInt64(message, field, RandomNumber(random));
    case FieldDescriptor::CPPTYPE_BOOL:
      return adds ? reflection->AddBool(message, field, random.OneIn(2))
                  : reflection->SetBool(message, field, random.OneIn(2));
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value = random.OneIn(4) ? RandomNumber(random) : static_cast<int>(random.Below(4));
      return adds ? reflection->AddEnumValue(message, field, value)
                  : reflection->SetEnumValue(message, field, value);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (depth == 0) return;
      return Fill(random, depth - 1,
                  adds ? reflection->AddMessage(message, field)
                       : reflection->MutableMessage(message, field));
    default:
      return;
  }
}

void Fill(Random& random, int depth, Message* message) {
  const auto* const descriptor = message->GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    if (random.OneIn(2)) continue;
    const int times = descriptor->field(i)->is_repeated() ? 1 + random.OneIn(3) : 1;
    for (int n = 0; n < times; ++n) FillField(random, depth, descriptor->field(i), message);
  }
}

class RandomAdminTest : public AdminFixture {
 protected:
  // What the requests name, as far as it does not exist.
  void CreateAll() {
    Error(&InstanceStub::CreateInstance,
          "parent: 'projects/p' instance_id: 'first-one' clusters { key: 'cluster-1' value {"
          " location: 'projects/p/locations/z' } }");
    Error(&TableStub::CreateTable, "parent: 'projects/p/instances/default' table_id: 't'");
    Error(&TableStub::CreateTable, "parent: 'projects/p/instances/first-one' table_id: 'u'");
  }
  grpc::StatusCode CallAny(const google::protobuf::MethodDescriptor& method,
                           const Message& request) {
    const grpc::Slice bytes(request.SerializeAsString());
    const grpc::ByteBuffer sent(&bytes, 1);
    const std::string path = Cat("/", method.service()->full_name(), "/", method.name());
    grpc::GenericStub stub(channel());
    grpc::ClientContext context;
    grpc::ByteBuffer received;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    grpc::Status status;
    stub.UnaryCall(&context, path, {}, &sent, &received, [&](grpc::Status result) {
      const std::lock_guard lock(mutex);
      status = std::move(result);
      is_done = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_done; });
    return status.error_code();
  }
};

TEST_F(RandomAdminTest, EveryRequestIsAnswered) {
  const std::set<grpc::StatusCode> expected = {
      grpc::StatusCode::OK,           grpc::StatusCode::INVALID_ARGUMENT,
      grpc::StatusCode::NOT_FOUND,    grpc::StatusCode::ALREADY_EXISTS,
      grpc::StatusCode::ABORTED,      grpc::StatusCode::FAILED_PRECONDITION,
      grpc::StatusCode::UNIMPLEMENTED};
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const char* name :
       {"google.bigtable.admin.v2.BigtableTableAdmin",
        "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"}) {
    const auto* const service = pool->FindServiceByName(name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) methods.push_back(service->method(i));
  }
  std::set<std::string> succeeded;
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    Random random(seed);
    if (seed % 50 == 1) CreateAll();
    const auto* const method = methods[random.Below(methods.size())];
    const std::unique_ptr<Message> request(google::protobuf::MessageFactory::generated_factory()
                                               ->GetPrototype(method->input_type())
                                               ->New());
    Fill(random, 4, request.get());
    const grpc::StatusCode code = CallAny(*method, *request);
    EXPECT_TRUE(expected.contains(code))
        << method->name() << " " << code << " seed " << seed << ": " << Show(*request);
    if (code == grpc::StatusCode::OK) succeeded.insert(method->name());
  }
  EXPECT_GE(succeeded.size(), 15u) << "the requests are too random to test anything";

  LosePower();
  EXPECT_EQ(Error(&InstanceStub::ListInstances, "parent: 'projects/p'"), "OK");
  EXPECT_EQ(Error(&InstanceStub::ListAppProfiles, "parent: 'projects/p/instances/-'"), "OK");
  EXPECT_EQ(Error(&TableStub::ListTables, "parent: 'projects/p/instances/default' view: FULL"),
            "OK");
}

}  // namespace
}  // namespace bigtable::server
