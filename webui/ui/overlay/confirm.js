/** Ask the user before an action that cannot be undone. */
/**
 * @param {object} question
 * @param {string} question.heading
 * @param {string} question.text
 * @param {string} question.action  label of the confirming button
 * @param {boolean} [question.isDangerous]
 * @returns {Promise<boolean>} whether to proceed
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
