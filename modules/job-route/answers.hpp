// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the child's side of questions: each is asked here again, under the id that the job has here, and the answer
// goes up with the parent's ids. Only about jobs of the parent.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/question_json.hpp"

namespace weir::route {

class Answers {
  public:
    /// \param send passes {number, body} to the parent, if the session is still the present one.
    using Send = std::function<void(const std::string& session, Json message)>;
    Answers(flux_t* h, const ChildLink& link, Send send);
    flux_t* flux() const { return h_; }
    /// A list of questions arrived in this session. An invalid one is logged and not answered.
    void asked(const std::string& session, json_t* questions);

  private:
    struct Asked {
        flux::Future future;
        std::string session;
        std::uint64_t number = 0;
        LocalId local;  ///< 0: which job has an id is asked
    };
    void ask(const std::string& session, const Question& question);
    flux::Future ask_here(const Question& question, LocalId local);
    void on_answer(flux_future_t* f);
    void send(const std::string& session, std::uint64_t number, const Reply& reply);
    void to_parents_ids(json_t* answer) const;

    flux_t* h_;
    const ChildLink& link_;
    Send send_;
    std::map<flux_future_t*, Asked> asked_;
};

}  // namespace weir::route
