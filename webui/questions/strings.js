/** Texts of tools' questions to the user. */
export const questions = {
  title: 'A question for you',
  hostAsks: 'The machine “{host}” asks, and gets your answer.',
  yourAnswer: 'Your answer',
  otherAnswer: 'Another answer',
  answer: 'Answer',
  decline: 'Decline',
  openAddress: 'Open this page',
  opensAt: 'It opens at {host}, in a new tab',
  addressDone: 'Done there',
  sampleAsked: '{module} wants your model to write a text. The model would be told:',
  sampleHint: 'What it writes goes to {module}.',
  allowSample: 'Have it written',
};
