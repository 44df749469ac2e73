import { createRequire } from 'node:module'
import sourceCategories from '../../../schemas/lists/sourceCategories.json' with { type: 'json' }
import spamReferrers from '../../../schemas/lists/spamReferrers.json' with { type: 'json' }
import transitHosts from '../../../schemas/lists/transitHosts.json' with { type: 'json' }
import { type Finding, finding } from './finding.ts'

/** The lists by which Footfall names and classifies traffic, with their dates. */
const lists = { sourceCategories, spamReferrers, transitHosts }
const daysMax = 400
const dayMs = 86_400_000

const versionOf = (name: string): string =>
  (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version

/** States the age of each list. A new version of Footfall has newer ones. */
export function examineLists(nowMs = Date.now()): Finding[] {
  const dated = Object.entries(lists).map(([name, { date }]) => {
    const days = Math.max(0, Math.floor((nowMs - Date.parse(date)) / dayMs))
    return finding(
      `the list ${name} is of ${date}, ${days} days old`,
      days > daysMax ? 'update Footfall, which brings newer lists' : null,
    )
  })
  return [...dated, finding(`bots are recognized by isbot ${versionOf('isbot')}`)]
}
