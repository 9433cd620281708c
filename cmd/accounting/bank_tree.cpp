// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see bank_tree.hpp.
#include "cmd/accounting/bank_tree.hpp"

#include <algorithm>

#include "cmd/accounting/accounting_row.hpp"
#include "cmd/accounting/names.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::cmd {
namespace {

const DroppedColumn bank_priority{"priority", {"", "0", "0.0"}, "the priorities of banks (see [weir.associations])"};

class BankReader {
  public:
    explicit BankReader(std::vector<std::string>& left_out) : left_out_(left_out) {}

    Result<BankTree> read(const std::string& text) {
        const auto rows = read_csv(text, bank_table, {"bank", "parent_bank", "shares"});
        if (!rows) {
            return rows.error();
        }
        for (const CsvRow& row : *rows) {
            Bank bank;
            bank.name = row.text("bank");
            bank.parent = row.text("parent_bank");
            bank.line = row.line();
            bank.is_active = cmd::is_active(row, "bank " + bank.name, left_out_);
            if (const Status read = read_bank(row, bank); !read) {
                return read.error();
            }
            if (const Status added = add(std::move(bank)); !added) {
                return added.error();
            }
        }
        if (const Status linked = link_banks(); !linked) {
            return linked.error();
        }
        if (const Status named = name_paths(); !named) {
            return named.error();
        }
        return std::move(tree_);
    }

  private:
    static Error mistake_in(const Bank& bank, const std::string& what) {
        return table_error(CsvRow::place_in(bank_table, bank.line) + ": " + what);
    }

    /// What a tree has to hold: an inactive bank is not looked at.
    Status read_bank(const CsvRow& row, Bank& bank) {
        if (!bank.is_active) {
            return Done{};
        }
        if (const std::string why = account_name_error(bank.name); !why.empty()) {
            return mistake_in(bank, in_quotes(bank.name) + " is no name of an account here: " + why);
        }
        if (bank.parent.empty()) {
            return Done{};
        }
        note_dropped(row, bank_priority, left_out_);
        const auto shares = row.integer("shares", 1);
        bank.shares = shares ? *shares : 1;
        return shares ? Status(Done{}) : Status(shares.error());
    }

    /// An inactive row counts where no active one has its name.
    Status add(Bank bank) {
        const auto [found, is_new] = tree_.by_name.try_emplace(bank.name, tree_.banks.size());
        if (is_new) {
            tree_.banks.push_back(std::move(bank));
            return Done{};
        }
        Bank& before = tree_.banks[found->second];
        if (before.is_active && bank.is_active) {
            return mistake_in(bank, "the bank " + in_quotes(bank.name) + " is on line " + std::to_string(before.line) +
                                        ", too; rename or remove one of the two");
        }
        if (bank.is_active) {
            before = std::move(bank);
        }
        return Done{};
    }

    Status link_banks() {
        const Bank* uppermost = nullptr;
        for (std::size_t i = 0; i < tree_.banks.size(); ++i) {
            const Bank& bank = tree_.banks[i];
            const auto above = tree_.by_name.find(bank.parent);
            if (!bank.parent.empty() && above != tree_.by_name.end()) {
                tree_.banks[above->second].banks.push_back(i);
            } else if (bank.is_active && !bank.parent.empty()) {
                return mistake_in(bank, "the parent_bank " + in_quotes(bank.parent) + " of " + in_quotes(bank.name) +
                                            " has no row; add it, or name another bank");
            } else if (bank.is_active && uppermost != nullptr) {
                return mistake_in(bank, in_quotes(bank.name) + " has no parent_bank, and neither has " +
                                            in_quotes(uppermost->name) + " on line " + std::to_string(uppermost->line) +
                                            "; one bank alone is the uppermost: give the other a parent_bank");
            } else {
                uppermost = bank.is_active ? &bank : uppermost;
                reached_.push_back(i);
            }
        }
        return Done{};
    }

    /// From the uppermost banks down. What is below an inactive bank is left out with it.
    Status name_paths() {
        for (std::size_t k = 0; k < reached_.size(); ++k) {
            Bank& above = tree_.banks[reached_[k]];
            above.is_reached = true;
            for (const std::size_t i : above.banks) {
                Bank& bank = tree_.banks[i];
                reached_.push_back(i);
                if (bank.is_active && !above.is_active) {
                    bank.is_active = false;
                    left_out_.push_back("bank " + bank.name + ": the bank above it, " + above.name + ", is left out");
                }
                bank.depth = above.depth + 1;
                if (bank.is_active && bank.depth > ShareTree::depth_max) {
                    return mistake_in(bank,
                                      "more than 64 banks stand above " + in_quotes(bank.name) + "; flatten the tree");
                }
                bank.path = bank.is_active ? path_below(above.path, bank.name) : "";
            }
        }
        for (std::size_t i = 0; i < tree_.banks.size(); ++i) {
            if (tree_.banks[i].is_active && !tree_.banks[i].is_reached) {
                return cycle_above(i);
            }
        }
        return Done{};
    }

    /// REQUIRES: each bank above this one has a row, and none of them is the uppermost.
    Error cycle_above(std::size_t place) const {
        const auto above = [&](std::size_t i) { return tree_.by_name.at(tree_.banks[i].parent); };
        for (std::size_t step = 0; step < tree_.banks.size(); ++step) {
            place = above(place);  // at last in the cycle
        }
        std::size_t first = place;
        for (std::size_t i = above(place); i != place; i = above(i)) {
            first = std::min(first, i);
        }
        std::string shown = tree_.banks[first].name;
        for (std::size_t i = above(first); i != first; i = above(i)) {
            shown += " -> " + tree_.banks[i].name;
        }
        return mistake_in(tree_.banks[first],
                          "cycle of parent banks: " + printable(shown + " -> " + tree_.banks[first].name) +
                              "; give one of them a parent_bank outside it");
    }

    std::vector<std::string>& left_out_;
    BankTree tree_;
    std::vector<std::size_t> reached_;  // banks, from above
};

}  // namespace

Result<BankTree> read_bank_table(const std::string& text, std::vector<std::string>& left_out) {
    return BankReader(left_out).read(text);
}

std::string path_below(const std::string& path, const std::string& name) {
    return (path.empty() ? "" : path + "/") + name;
}

}  // namespace weir::cmd
