/** Ask before something that cannot be taken back. */
/**
 * @param {object} question
 * @param {string} question.heading
 * @param {string} question.text
 * @param {string} question.action  what the button says that goes ahead
 * @param {boolean} [question.isDangerous]
 * @returns {Promise<boolean>} whether to go ahead
 */
export async function confirm(question) {
  const {AcConfirm} = await import('./ac-confirm.js');
  const element = Object.assign(new AcConfirm(), question);
  document.body.append(element);
  return new Promise((resolve) => {
    element.addEventListener('ac-answer', (event) => {
      element.remove();
      resolve(/** @type {CustomEvent<boolean>} */ (event).detail);
    }, {once: true});
  });
}
