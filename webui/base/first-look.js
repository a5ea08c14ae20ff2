// A script of its own that is no module: those wait until the document has been read, and Firefox, and Safari before 18.2, paint
// it before they run. Who has chosen dark would see a white page first. The rest of the theme is in theme.js.
{
  const chosen = localStorage.getItem('agentcore.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}
