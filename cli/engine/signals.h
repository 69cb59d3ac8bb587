#pragma once
// Stopping when told to: work that can be saved asks stop_requested() now and then.

namespace cpl::cli {

// From now on SIGINT and SIGTERM only ask; a second one ends the process at once.
void catch_signals();
bool stop_requested();

}  // namespace cpl::cli
