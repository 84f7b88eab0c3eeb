// Package llm is what callers of AI services need on top of throttle: quotas by model, token costs that are estimated before a call and
// corrected by what the answer says, refusals that no waiting heals, and chat calls that may be repeated.
//
//	client, err := throttle.NewClient(
//		llm.Preset(),
//		throttle.WithPolicies(budget.PerMinute(500), budget.PerMinute(200_000).Of(budget.Tokens)),
//	)
//
// Of each answer is reserved what most answers of the model stay below, or the whole of what the call allows where the service charges that. How
// much is reserved in vain stands in the transport's State (BudgetState.OverReservation) and in Estimator.OverReservation.
//
// The shapes of OpenAI, Azure OpenAI, Anthropic, Gemini, Mistral and of those who speak OpenAI's dialect are known.
package llm
