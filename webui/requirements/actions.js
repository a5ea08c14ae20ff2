/** Actions on a requirement, for the views that show one. */
import {inLocale, t} from '../base/i18n.js';
import {requirementList} from '../client/requirement-list.js';
import {toastError} from '../ui/toasts.js';

/** @typedef {import('../client/requirement-list.js').Requirement} Requirement */

/** Return a text in the language of the page. @param {import('../client/requirement-list.js').LocalizedText | null} text */
export function textOf(text) {
  return typeof text === 'string' ? text : inLocale(text ?? {}) ?? '';
}

/** Return the label of the install button. @param {Requirement} requirement */
export function installLabel({downloadBytes, error}) {
  if (error) return t('requirements.again');
  return downloadBytes ? t('requirements.installSize', {size: Math.max(1, Math.round(downloadBytes / 1e6))}) : t('requirements.install');
}

/** Request the installation, and show the request in the approval view. @param {Requirement} requirement @param {EventTarget} from */
export async function requestInstallation(requirement, from) {
  if (requirement.changeId) return showRequest(from);
  try {
    await requirementList.install(requirement);
  } catch (error) {
    if (/** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required') showRequest(from);
    else toastError(t('requirements.installFailed'), error);
  }
  await requirementList.load();
}

/** @param {Requirement} requirement */
export async function cancelInstallation(requirement) {
  try {
    await requirementList.cancel(requirement);
  } catch (error) {
    toastError(t('requirements.cancelFailed'), error);
  }
}

/** @param {EventTarget} from */
function showRequest(from) {
  from.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {}, bubbles: true, composed: true}));
}
