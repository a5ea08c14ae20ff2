/** Texts of live views, such as for the approval that is needed before the page may act in one. */
export const modulePages = {
  watching: 'You are watching. Typing and clicking are confirmed in the approval view, once.',
  waiting: 'Waits for your decision: confirm in the approval view that this page may type and click here. It then goes on by itself.',
  show: 'Decide',
  refused: 'It was refused in the approval view: this page goes on watching.',
  expired: 'Nobody decided in time: this page goes on watching.',
  again: 'Ask again',
  'waits.approval': 'A call waits for your decision, and then goes on by itself.',
  'waits.turn': 'Another call is on its way here. Yours goes on by itself when it is its turn.',
  'waits.connection': 'The connection is lost. It is tried again, and everything goes on by itself.',
};
