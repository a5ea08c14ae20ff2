/** Open a resource again that ended with the server, from wherever its closed tab is shown. */
import {t} from '../base/i18n.js';
import {nameOf, resourceTabs} from './resource-tabs.js';
import {href, navigate, route} from '../base/router.js';
import {toastError} from '../ui/toasts.js';

/** Open another resource in its place; whoever still looks at the closed one is led there. @param {import('./resource-tabs.js').ShownTab} shown */
export async function reopenTab(shown) {
  const {tab, resource, module} = shown;
  const name = nameOf(shown);
  try {
    const resourceId = await resourceTabs.reopen(tab);
    const [place, , looked] = route().path;
    if (resourceId && place === 'pages' && looked === resource.resourceId) navigate(href(['pages', module.name, resourceId]));
  } catch (error) {
    toastError(t('tabs.openFailed', {name}), error);
  }
}
