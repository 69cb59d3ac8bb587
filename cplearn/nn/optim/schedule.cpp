#include "cplearn/nn/optim/schedule.h"

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

double constant(const Schedule& schedule, std::int64_t) { return schedule.base; }

double stepped(const Schedule& schedule, std::int64_t step) {
  const std::int64_t drops = step / schedule.step_every;
  return schedule.base * std::pow(schedule.step_factor, static_cast<double>(drops));
}

double cosine(const Schedule& schedule, std::int64_t step) {
  const double length = static_cast<double>(schedule.total - schedule.warmup);
  return cosine_between(schedule.base, schedule.final,
                        static_cast<double>(step - schedule.warmup) / length);
}

const ScheduleRow* find(const std::string& name) {
  const auto& table = schedules();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&name](const ScheduleRow& r) { return r.name == name; });
  return row == table.end() ? nullptr : &*row;
}

}  // namespace

const std::vector<ScheduleRow>& schedules() {
  static const std::vector<ScheduleRow> table = {
      {"constant", "the same rate throughout", constant},
      {"step", "times step_factor after every step_every steps", stepped},
      {"cosine", "half a cosine from base down to final", cosine},
  };
  return table;
}

void check_schedule(const Schedule& schedule) {
  if (!find(schedule.name)) {
    std::string known;
    for (const ScheduleRow& row : schedules()) known += str(known.empty() ? "" : ", ", row.name);
    throw Error(str("there is no schedule ", schedule.name, ": choose one of ", known));
  }
  CPL_CHECK(schedule.base > 0, "the learning rate is ", schedule.base, ", expected more than 0");
  CPL_CHECK(schedule.warmup >= 0, "the warm-up has ", schedule.warmup,
            " steps, expected 0 or more");
  CPL_CHECK(schedule.name != "step" || schedule.step_every > 0, "the schedule step drops every ",
            schedule.step_every, " steps: set step_every to 1 or more");
  CPL_CHECK(schedule.name != "cosine" || schedule.total > schedule.warmup, "the training has ",
            schedule.total, " steps and the warm-up takes ", schedule.warmup,
            ": train longer, or shorten the warm-up");
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  if (step < schedule.warmup) {  // the last step of the warm-up has reached the base
    const double last = static_cast<double>(std::max<std::int64_t>(schedule.warmup - 1, 1));
    const double done = schedule.warmup == 1 ? 1 : static_cast<double>(step) / last;
    return schedule.warmup_start + done * (schedule.base - schedule.warmup_start);
  }
  const ScheduleRow* row = find(schedule.name);
  CPL_CHECK(row, "there is no schedule ", schedule.name);
  return row->rate(schedule, step);
}

double cosine_between(double first, double last, double progress) {
  constexpr double kPi = 3.14159265358979323846;
  return last + 0.5 * (first - last) * (1 + std::cos(kPi * std::clamp(progress, 0.0, 1.0)));
}

}  // namespace cpl
