#pragma once
// How the options of a command are shown: those that matter first, the rest by topic with
// --help-all. From the same declarations come shell completion and the manual page (cli/shell.cpp).

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cpl::cli {

// An option as people read it: "--codes INT", "--[no-]projector", "RUN".
std::string option_title(const CLI::Option& option);
// Its help, with the default in brackets at the end.
std::string option_help(const CLI::Option& option);

// These options come first; --help shows no others, except those of a method that is named.
void show_first(CLI::App& app, const std::vector<std::string>& names);

class HelpFormatter : public CLI::Formatter {
 public:
  // `words`: the command line, of which "--method NAME" and "--help NAME" add that method's topic.
  explicit HelpFormatter(const std::vector<std::string>& words);

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;

 private:
  std::string make_topics(const CLI::App* app, CLI::AppFormatMode mode) const;

  std::vector<std::string> topics_;  // beside the first options
};

}  // namespace cpl::cli
