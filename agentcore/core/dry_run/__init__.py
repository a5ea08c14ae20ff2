"""Looking at a call without running it: edited arguments, explanations, rules that are tried."""

from agentcore.core.dry_run.completing import Completed, Completion
from agentcore.core.dry_run.explanation import Explanation, Question, explain_policy_decision
from agentcore.core.dry_run.offer_examples import OfferExample, find_offer_examples
from agentcore.core.dry_run.rule_trial import Trial, TrialResult, try_rule
