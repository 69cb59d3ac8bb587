#include "cli/help.h"

#include <sstream>

#include "cplearn/base/text.h"

namespace cpl::cli {
namespace {

constexpr const char* kFirst = "Options";  // CLI11's own name of the group without a name
constexpr std::size_t kIndent = 30, kColumns = 100;

bool is_shown_at_once(const std::string& group, const std::vector<std::string>& topics) {
  return group == kFirst || group == "Common" ||
         std::count(topics.begin(), topics.end(), group) > 0;
}

bool is_switch(const CLI::Option& option) { return option.get_expected_max() == 0; }

}  // namespace

std::string option_title(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name();
  const std::vector<std::string>& names = option.get_lnames();
  std::string title = option.get_snames().empty() ? "" : "-" + option.get_snames()[0] + ", ";
  // "--no-x" is the second name of a switch x that may also be turned off.
  const bool can_be_off = names.size() > 1 && names[1] == "no-" + names[0];
  title += (can_be_off ? "--[no-]" : "--") + names.at(0);
  if (is_switch(option)) return title;
  const std::string type = option.get_type_name();  // CLI11 adds ":INT in [0 - 10]" for a check
  return title + " " + type.substr(0, type.find(':'));
}

std::string option_help(const CLI::Option& option) {
  std::string value = option.get_default_str();
  if (is_switch(option)) value = value == "true" ? "on" : value == "false" ? "off" : "";
  return option.get_description() + (value.empty() ? "" : " [" + value + "]");
}

void show_first(CLI::App& app, const std::vector<std::string>& names) {
  for (const std::string& name : names) app.get_option("--" + name)->group(kFirst);
}

HelpFormatter::HelpFormatter(const std::vector<std::string>& words) {
  label("SUBCOMMAND", "COMMAND");
  label("Subcommands", "Commands");
  label("Positionals", "What it takes");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string equals = "--method=";
    if (word.rfind(equals, 0) == 0) topics_.push_back("Method " + word.substr(equals.size()));
    if (i + 1 < words.size() && (word == "--method" || word == "--help" || word == "-h"))
      topics_.push_back("Method " + words[i + 1]);
  }
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  return make_description(app) + make_usage(app, name) + make_positionals(app) +
         make_topics(app, mode) + make_subcommands(app, mode) + "\n" + make_footer(app);
}

std::string HelpFormatter::make_topics(const CLI::App* app, CLI::AppFormatMode mode) const {
  std::string text;
  std::size_t hidden = 0;
  for (const std::string& group : app->get_groups()) {
    const auto options = app->get_options([&group](const CLI::Option* option) {
      return option->get_group() == group && option->nonpositional();
    });
    if (group.empty() || options.empty()) continue;
    if (mode == CLI::AppFormatMode::Normal && !is_shown_at_once(group, topics_)) {
      hidden += options.size();
    } else {
      text += make_group(group, false, options);
    }
  }
  if (hidden > 0)
    text += str("\n", hidden,
                " more options, by topic: --help-all. Those of a method: --help METHOD.\n");
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool) const {
  std::string line = "  " + option_title(*option);
  line += line.size() + 2 > kIndent ? "\n" + std::string(kIndent, ' ')
                                    : std::string(kIndent - line.size(), ' ');
  std::size_t column = kIndent;
  std::istringstream words(option_help(*option));
  for (std::string word; words >> word;) {
    if (column > kIndent && column + 1 + word.size() > kColumns) {
      line += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    }
    line += (column > kIndent ? " " : "") + word;
    column += word.size() + (column > kIndent ? 1 : 0);
  }
  return line + "\n";
}

}  // namespace cpl::cli
