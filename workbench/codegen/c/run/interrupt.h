/* Ctrl-C while kernels run: the run's stop word is set, and then Python's own handler runs, which
   raises KeyboardInterrupt as soon as Python goes on. Only the main thread's runs ask for it. */
#ifndef WORKBENCH_INTERRUPT_H
#define WORKBENCH_INTERRUPT_H

#include "run.h"

#if defined(_WIN32)
static void watch_interrupts(Run *run) { (void)run; }
static void leave_interrupts(Run *run) { (void)run; }
#else
#include <signal.h>

static Run *watched;
static struct sigaction other_handler;

static void interrupted(int number) {
    if (watched) *watched->stop = 1;
    other_handler.sa_handler(number);
}

static void watch_interrupts(Run *run) {
    if (!run->main_thread) return;
    struct sigaction own = {0};
    own.sa_handler = interrupted;
    sigaction(SIGINT, 0, &other_handler);
    if (other_handler.sa_handler == SIG_DFL || other_handler.sa_handler == SIG_IGN) return;
    watched = run;
    sigaction(SIGINT, &own, 0);
}

static void leave_interrupts(Run *run) {
    if (watched != run) return;
    sigaction(SIGINT, &other_handler, 0);
    watched = 0;
}
#endif

#endif
