// cplearn completion, cplearn manual: made from the declarations of all commands.

#include <map>

#include "cli/command.h"
#include "cli/help.h"
#include "cplearn/base/text.h"
#include "cplearn/base/version.h"
#include "cplearn/data/recipe.h"
#include "cplearn/nn/backbone/backbone_options.h"
#include "cplearn/nn/optim/optimizer_options.h"
#include "cplearn/nn/optim/schedule.h"
#include "cplearn/ssl/method_options.h"

namespace cpl::cli {
namespace {

struct CompletedOption {
  std::string name, help;  // "--codes"
  bool takes_value;
  std::string choices;  // with spaces between; empty: anything, such as a file
};

struct CompletedCommand {
  std::string path, summary;  // "bench head"
  std::vector<CompletedOption> options;
};

// The values that `option` may have, where they are a short list.
std::string choices_of(const CLI::Option& option) {
  const static std::map<std::string, std::string> tables = {
      {"method", names_in(methods())},     {"backbone", names_in(backbones())},
      {"augment", names_in(recipes())},    {"optimizer", names_in(optimizers())},
      {"schedule", names_in(schedules())}, {"budget", "smoke, cpu, paper"}};
  std::string list = option.get_type_name();  // "{a|b}"
  if (list.empty() || list.front() != '{') {
    const auto table = tables.find(option.get_lnames().at(0));
    list = table == tables.end() ? "" : table->second;
  }
  for (char& c : list)
    if (std::string("{|},").find(c) != std::string::npos) c = ' ';
  return list;
}

void collect(const CLI::App& app, const std::string& path, std::vector<CompletedCommand>& found) {
  CompletedCommand command{path, app.get_description(), {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const bool takes_value = option->get_expected_max() > 0;
    for (const std::string& name : option->get_lnames())
      command.options.push_back({"--" + name, option->get_description(), takes_value,
                                 takes_value ? choices_of(*option) : ""});
  }
  found.push_back(command);
  for (const CLI::App* sub : app.get_subcommands({}))
    collect(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), found);
}

// What may follow `path` without a dash.
std::string commands_below(const std::string& path, const std::vector<CompletedCommand>& all) {
  const std::string start = path.empty() ? "" : path + " ";
  std::string list;
  for (const CompletedCommand& command : all) {
    if (command.path.size() <= start.size() || command.path.rfind(start, 0) != 0) continue;
    const std::string rest = command.path.substr(start.size());
    if (rest.find(' ') == std::string::npos) list += (list.empty() ? "" : " ") + rest;
  }
  return list;
}

std::string bash_completion(const std::vector<CompletedCommand>& all) {
  std::string text =
      "# Completion of cplearn, made by 'cplearn completion bash'.\n"
      "_cplearn() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= commands= "
      "options= values=\n"
      "  [[ $COMP_CWORD -gt 1 ]] && path=${COMP_WORDS[1]}\n"
      "  case \"$path\" in bench|data) [[ $COMP_CWORD -gt 2 ]] && path=\"$path ${COMP_WORDS[2]}\" "
      ";; "
      "esac\n"
      "  case \"$path\" in\n";
  for (const CompletedCommand& command : all) {
    std::string options, values;
    for (const CompletedOption& option : command.options) {
      options += (options.empty() ? "" : " ") + option.name;
      if (option.takes_value)
        values += str("      ", option.name, ") values=\"",
                      option.choices.empty() ? "FILE" : option.choices, "\" ;;\n");
    }
    text +=
        str("    \"", command.path, "\") commands=\"", commands_below(command.path, all),
            "\" options=\"", options, "\"\n      case \"$before\" in\n", values, "      esac ;;\n");
  }
  return text +
         "  esac\n"
         "  if [[ $values == FILE ]]; then COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  elif [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ -n $commands ]]; then COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
         "  else COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _cplearn cplearn\n";
}

std::string in_single_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' || c == '\\' ? str('\\', c) : std::string(1, c);
  return result + "'";
}

std::string fish_completion(const std::vector<CompletedCommand>& all) {
  std::string text = "# Completion of cplearn, made by 'cplearn completion fish'.\n";
  for (const CompletedCommand& command : all) {
    std::string condition;
    for (std::size_t at = 0; at < command.path.size();) {
      const std::size_t end = std::min(command.path.find(' ', at), command.path.size());
      condition += str(condition.empty() ? "" : "; and ", "__fish_seen_subcommand_from ",
                       command.path.substr(at, end - at));
      at = end + 1;
    }
    if (!command.path.empty()) {
      const std::size_t space = command.path.rfind(' ');
      const bool top = space == std::string::npos;
      text += str(
          "complete -c cplearn -n ",
          in_single_quotes(top ? "__fish_use_subcommand"
                               : "__fish_seen_subcommand_from " + command.path.substr(0, space)),
          top ? " -f" : "", " -a ", command.path.substr(top ? 0 : space + 1), " -d ",
          in_single_quotes(command.summary), "\n");
    }
    for (const CompletedOption& option : command.options) {
      text +=
          str("complete -c cplearn", condition.empty() ? "" : " -n " + in_single_quotes(condition),
              " -l ", option.name.substr(2), option.takes_value ? " -r" : "",
              option.choices.empty() ? "" : " -f -a " + in_single_quotes(option.choices), " -d ",
              in_single_quotes(option.help), "\n");
    }
  }
  return text;
}

// Text as roff takes it: no line may begin with a control character, and '-' is a minus.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  const bool control = !result.empty() && (result[0] == '.' || result[0] == '\'');
  return control ? "\\&" + result : result;
}

void describe(const CLI::App& app, const std::string& path, std::string& text) {
  text += str(".SS ", roff(path), "\n", roff(app.get_description()), ".\n");
  std::string group;
  for (const CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr() || option == app.get_help_all_ptr()) continue;
    if (option->get_group() != group && !option->get_positional()) {
      group = option->get_group();
      if (group != "Options") text += str(".P\n.I ", roff(group), "\n");
    }
    text += str(".TP\n.B ", roff(option_title(*option)), "\n", roff(option_help(*option)), "\n");
  }
  for (const CLI::App* sub : app.get_subcommands({}))
    describe(*sub, path + " " + sub->get_name(), text);
  const std::string footer = app.get_footer(), word = "Example:\n  ";
  if (footer.rfind(word, 0) == 0)
    text += str(".P\nExample:\n.RS\n.nf\n", roff(footer.substr(word.size())), "\n.fi\n.RE\n");
}

std::string manual_page(const CLI::App& root) {
  std::string text = str(
      ".TH CPLEARN 1 \"\" \"cplearn ", version(),
      "\" \"User commands\"\n"
      ".SH NAME\ncplearn \\- collapse\\-proof self\\-supervised learning from images without "
      "labels\n"
      ".SH SYNOPSIS\n.B cplearn\n.I COMMAND\n.RI [ OPTIONS ]\n"
      ".SH DESCRIPTION\nTurns a folder of images without labels into an encoder, embeddings and "
      "clusters, and says whether the training has collapsed. Defaults are in [brackets].\n"
      ".SH COMMANDS\n");
  for (const CLI::App* command : root.get_subcommands({}))
    describe(*command, command->get_name(), text);
  return text +
         ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nfailure\n.TP\n.B 2\nthe command line is "
         "wrong\n.TP\n.B 3\na collapse was found (diagnose, train \\-\\-strict)\n";
}

const CLI::App& root_of(const CLI::App& app) { return *app.get_parent(); }

}  // namespace

Run declare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &app](const Common&) {
    std::vector<CompletedCommand> all;
    collect(root_of(app), "", all);
    if (*shell == "fish") {
      std::cout << fish_completion(all);
    } else {
      if (*shell == "zsh") std::cout << "autoload -U +X bashcompinit && bashcompinit\n";
      std::cout << bash_completion(all);
    }
    return kSuccess;
  };
}

Run declare_manual(CLI::App& app) {
  return [&app](const Common&) {
    std::cout << manual_page(root_of(app));
    return kSuccess;
  };
}

}  // namespace cpl::cli
