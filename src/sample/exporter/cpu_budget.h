/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_budget - limit the CPU time of a recurring task to a share of elapsed time. The
 * task earns credit while time passes, and may run while it has credit. A step that costs
 * more than the credit leaves a debt, so the share holds on average. The functions are
 * pure.
 */
#ifndef MS_SAMPLE_EXPORTER_CPU_BUDGET_H
#define MS_SAMPLE_EXPORTER_CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

/* Maximum credit, in ns of CPU time; also the initial credit. */
#define CPU_BUDGET_CREDIT_MAX_NS ((int64_t)(100 * NS_PER_MS))

/* The value of `share` that stands for 100% of one CPU. */
#define CPU_BUDGET_WHOLE 100000

struct cpu_budget {
	/* share of one CPU in thousandths of a percent; 0 means no limit */
	uint64_t share;
	uint64_t now_ns;
	int64_t credit_ns;
};

void cpu_budget_init(struct cpu_budget *budget, uint64_t share, uint64_t now_ns);

/* Add the credit for the time that has passed since the last call. */
void cpu_budget_earn(struct cpu_budget *budget, uint64_t now_ns);

/* Subtract from the credit the CPU time that the task has used. */
void cpu_budget_use(struct cpu_budget *budget, uint64_t cpu_ns);

/* Return true if there is credit left, so that the task may run. */
bool cpu_budget_has_credit(const struct cpu_budget *budget);

/* Return the credit, or 0 if there is a debt, or UINT64_MAX if there is no limit. */
uint64_t cpu_budget_credit_ns(const struct cpu_budget *budget);

/* Return the credit earned in the given time, or UINT64_MAX if there is no limit. */
uint64_t cpu_budget_over(const struct cpu_budget *budget, uint64_t elapsed_ns);

#endif
