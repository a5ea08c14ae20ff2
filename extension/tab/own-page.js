/**
 * Matches documents of agentcore itself, on any server: its page and its approval view. Only the user may act there, as a
 * model that did would act as the one who approves its calls.
 */
export const OWN_PAGE = 'meta[name="agentcore-approval-origin"], meta[name="agentcore-page-origin"]';
