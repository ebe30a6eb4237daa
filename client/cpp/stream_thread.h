#ifndef TTL_CLIENT_CPP_STREAM_THREAD_H_
#define TTL_CLIENT_CPP_STREAM_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "grpcpp/client_context.h"

namespace ttl {

// Reads a stream on a thread of its own, from construction to destruction. A stream that ends is
// opened again after 0.1 s; the delay doubles up to 2 s until a message arrives.
class StreamThread {
 public:
  enum class Next {
    kReopen,         // a message arrived
    kReopenLater,    // none did
    kNothingFurther  // do not open it again
  };

  // Opens the stream with the context, which waits for a connection, and reads it to its end.
  using ReadStream = std::function<Next(grpc::ClientContext&)>;

  explicit StreamThread(ReadStream read);
  // Cancels the stream and waits for `read`.
  ~StreamThread();
  StreamThread(const StreamThread&) = delete;
  StreamThread& operator=(const StreamThread&) = delete;

  // Whether the destructor has begun, so that a stream that ends may have been cancelled by it.
  bool is_stopping();

 private:
  void Run();
  // Sets the stream to cancel; null: none. Returns false if the thread is stopping.
  bool SetStream(grpc::ClientContext* context);
  // Returns false if the thread is stopping.
  bool Pause(std::chrono::milliseconds pause);

  const ReadStream read_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  // Both guarded by mutex_.
  bool stop_ = false;
  grpc::ClientContext* stream_ = nullptr;
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_STREAM_THREAD_H_
