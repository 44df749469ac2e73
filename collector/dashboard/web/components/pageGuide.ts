/** The guide of each page, by the end of its address below the project or the organization. */
const guides: readonly (readonly [path: RegExp, guide: string])[] = [
  [/\/overview$/, 'dashboard#figures'],
  [/\/(goals|funnels)$/, 'dashboard#goals-and-funnels'],
  [/\/(retention|journeys|vitals)$/, 'dashboard#figures'],
  [/\/(events|people)$/, 'dashboard#events-and-visitors'],
  [/\/alerts$/, 'alerts'],
  [/\/tracking-plan$/, 'tracking-plan'],
  [/\/audiences(\/.*)?$/, 'audiences-and-intent'],
  [/\/intent$/, 'audiences-and-intent#intent'],
  [/\/lists(\/.*)?$/, 'activation#lists'],
  [/\/(exports(\/.*)?|integrations)$/, 'activation#integrations-and-exports'],
  [/\/archives$/, 'archive'],
  [/\/repairs$/, 'identity-and-privacy#repair-data'],
  [/\/webhooks(\/.*)?$/, 'activation#webhooks'],
  [/\/sharing$/, 'dashboard#share-links-and-e-mail-summaries'],
  [/\/pixels\/.*$/, 'tracking'],
  [/\/(usage|usage\/.*)$/, 'billing'],
  [/\/privacy$/, 'identity-and-privacy'],
  [/\/settings\/single-sign-on$/, 'single-sign-on'],
  [/\/operator$/, 'operations#health-and-metrics'],
  [/\/developers\/.*$/, 'api'],
  [/\/settings\/api-keys$/, 'api'],
  [/\/members$/, 'dashboard#accounts'],
  [/\/settings\/(account|organization|audit)$/, 'dashboard#accounts'],
  [/\/projects(\/[^/]+(\/settings)?)?$/, 'dashboard#pages'],
]

/** Returns the address of the guide of a page in /docs; null without a guide. */
export function guideOf(path: string): string | null {
  const found = guides.find(([pattern]) => pattern.test(path))
  return found ? `/docs/${found[1]}` : null
}
