// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see worker.hpp.
#include "cmd/serve/worker.hpp"

#include "libfairshare/base/check.hpp"

namespace weir::cmd {

Worker::Worker(uv_loop_t* loop) {
    WEIR_CHECK(uv_async_init(loop, &wake_, [](uv_async_t* handle) { static_cast<Worker*>(handle->data)->deliver(); }) ==
               0);
    wake_.data = this;
    thread_ = std::thread([this] { run(); });
}

Worker::~Worker() {
    close();
}

void Worker::post(Task task) {
    ++pending_;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
}

void Worker::close() {
    if (is_closed_) {
        return;
    }
    is_closed_ = true;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        is_closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
    uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
}

void Worker::run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return is_closing_ || !tasks_.empty(); });
        if (is_closing_) {
            return;
        }
        const Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        Then then = task();
        lock.lock();
        results_.push_back(std::move(then));
        (void)uv_async_send(&wake_);
    }
}

void Worker::deliver() {
    std::deque<Then> results;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        results.swap(results_);
    }
    for (const Then& then : results) {
        --pending_;
        then();
    }
}

}  // namespace weir::cmd
