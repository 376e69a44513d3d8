#include "server/grpc_services/reflection_service.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpcpp/support/status.h"

#include "convert/status.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

// With the files that it imports, each once.
void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>* added,
             grpc::reflection::v1alpha::FileDescriptorResponse* response) {
  if (!added->insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, response);
}

absl::Status AnswerWithFile(const FileDescriptor* file, const std::string& name,
                            ServerReflectionResponse* response) {
  if (file == nullptr) return absl::NotFoundError(Cat("there is no descriptor of '", name, "'"));
  std::set<const FileDescriptor*> added;
  AddFile(*file, &added, response->mutable_file_descriptor_response());
  return absl::OkStatus();
}

const FieldDescriptor* ExtensionOf(const std::string& type, int number) {
  const Descriptor* const found = Pool().FindMessageTypeByName(type);
  return found == nullptr ? nullptr : Pool().FindExtensionByNumber(found, number);
}

absl::Status AnswerWithExtensions(const std::string& type, ServerReflectionResponse* response) {
  const Descriptor* const found = Pool().FindMessageTypeByName(type);
  if (found == nullptr) return absl::NotFoundError(Cat("there is no descriptor of '", type, "'"));
  std::vector<const FieldDescriptor*> extensions;
  Pool().FindAllExtensions(found, &extensions);
  auto* const answer = response->mutable_all_extension_numbers_response();
  answer->set_base_type_name(type);
  for (const FieldDescriptor* const each : extensions) {
    answer->add_extension_number(each->number());
  }
  return absl::OkStatus();
}

absl::Status Answer(const ServerReflectionRequest& request,
                    const std::vector<std::string>& services, ServerReflectionResponse* response) {
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      return AnswerWithFile(Pool().FindFileByName(request.file_by_filename()),
                            request.file_by_filename(), response);
    case ServerReflectionRequest::kFileContainingSymbol:
      return AnswerWithFile(Pool().FindFileContainingSymbol(request.file_containing_symbol()),
                            request.file_containing_symbol(), response);
    case ServerReflectionRequest::kFileContainingExtension: {
      const auto& asked = request.file_containing_extension();
      const FieldDescriptor* const found =
          ExtensionOf(asked.containing_type(), asked.extension_number());
      return AnswerWithFile(found == nullptr ? nullptr : found->file(),
                            Cat(asked.containing_type(), ", ", asked.extension_number()), response);
    }
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      return AnswerWithExtensions(request.all_extension_numbers_of_type(), response);
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : services) {
        response->mutable_list_services_response()->add_service()->set_name(name);
      }
      return absl::OkStatus();
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      break;
  }
  return absl::UnimplementedError("the request asks for nothing that is known");
}

}  // namespace

// A stream: after each response it receives the next request.
class ReflectionService::Call final : public SmallCall {
 public:
  Call(Admission* admission, const std::vector<std::string>* services)
      : SmallCall(admission), services_(*services) {}

 private:
  void Begin(const grpc::ByteBuffer& bytes) override {
    ServerReflectionRequest request;
    if (const absl::Status status = Parse(bytes, &request); !status.ok()) {
      return Finish(convert::ToGrpcStatus(status));
    }
    ServerReflectionResponse response;
    if (const absl::Status status = Answer(request, services_, &response); !status.ok()) {
      response.mutable_error_response()->set_error_code(static_cast<int>(status.code()));
      response.mutable_error_response()->set_error_message(std::string(status.message()));
    }
    response.set_valid_host(request.host());
    *response.mutable_original_request() = std::move(request);
    response_ = Serialize(response);
    StartWrite(&response_);
  }
  void NoRequest() override { Finish(grpc::Status()); }
  void OnWriteDone(bool ok) override {
    response_.Clear();
    if (ok) return Receive();
    Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client has gone"));
  }

  const std::vector<std::string>& services_;
  grpc::ByteBuffer response_;
};

ReflectionService::ReflectionService(Admission* admission, std::vector<std::string> services)
    : services_(std::move(services)) {
  services_.emplace_back(kName);
  Add("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      [this, admission] { return new Call(admission, &services_); });
}

}  // namespace bigtable::server
