#include "common/interrupt.h"

namespace bench {
namespace {

volatile sig_atomic_t was_interrupted = 0;
void Interrupt(int) { was_interrupted = 1; }

}  // namespace

InterruptHandler::InterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = Interrupt;  // without SA_RESTART
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

InterruptHandler::~InterruptHandler() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

bool InterruptHandler::interrupted() { return was_interrupted != 0; }

}  // namespace bench
