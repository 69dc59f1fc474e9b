/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/cpu_budget.h"

void cpu_budget_init(struct cpu_budget *budget, uint64_t share, uint64_t now_ns)
{
	*budget = (struct cpu_budget){ share, now_ns, CPU_BUDGET_CREDIT_MAX_NS };
}

uint64_t cpu_budget_over(const struct cpu_budget *budget, uint64_t elapsed_ns)
{
	/* divide first, because the product of long times would overflow */
	return budget->share > 0 ? elapsed_ns / CPU_BUDGET_WHOLE * budget->share
				 : UINT64_MAX;
}

void cpu_budget_earn(struct cpu_budget *budget, uint64_t now_ns)
{
	uint64_t room_ns = (uint64_t)(CPU_BUDGET_CREDIT_MAX_NS - budget->credit_ns);
	uint64_t earned_ns = cpu_budget_over(budget, now_ns - budget->now_ns);

	budget->credit_ns += (int64_t)(earned_ns < room_ns ? earned_ns : room_ns);
	budget->now_ns = now_ns;
}

void cpu_budget_use(struct cpu_budget *budget, uint64_t cpu_ns)
{
	budget->credit_ns -= (int64_t)cpu_ns;
}

uint64_t cpu_budget_credit_ns(const struct cpu_budget *budget)
{
	if (budget->share == 0)
		return UINT64_MAX;
	return budget->credit_ns > 0 ? (uint64_t)budget->credit_ns : 0;
}

bool cpu_budget_has_credit(const struct cpu_budget *budget)
{
	return cpu_budget_credit_ns(budget) > 0;
}
