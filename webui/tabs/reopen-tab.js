/** Reopens a resource that ended with the server, wherever its closed tab is shown. */
import {t} from '../base/i18n.js';
import {nameOf, resourceTabs} from './resource-tabs.js';
import {href, navigate, route} from '../base/router.js';
import {toastError} from '../ui/toasts.js';

/** Open a new resource in the tab of a closed one, and navigate to it if the closed one is still shown. @param {import('./resource-tabs.js').ShownTab} shown */
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
