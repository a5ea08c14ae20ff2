import {t} from '../base/i18n.js';

/** Describe the difference between the version or block on disk and the running one; '' if they are the same. @param {import('../client/module-list.js').Module} module */
export function onDisk({state, version, versionOnDisk, block}) {
  if (state !== 'ready') return '';
  if (versionOnDisk === version) return block?.isChanged ? t('modules.blockChanged') : block?.isSecretChanged ? t('modules.secretChanged') : '';
  return versionOnDisk === null ? t('modules.goneOnDisk') : t('modules.onDisk', {version: versionOnDisk});
}
