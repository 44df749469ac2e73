import { StartError } from '../../platform/startError.ts'
import { checkSite } from './check.ts'

/** Prints the findings of `footfall-server check URL`, and returns whether the pixel works. */
export async function check(given: string, chromiumPath: string | null): Promise<boolean> {
  const url = /^https?:\/\//.test(given) ? given : `https://${given}`
  if (!URL.canParse(url)) throw new StartError(`"${given}" is not an address`)
  console.error(`Loading ${url}, then watching it for a few seconds…`)
  const { ok, findings } = await checkSite(url, chromiumPath)
  for (const { ok, text } of findings) console.log(`${ok ? '✓' : '✗'} ${text}`)
  return ok
}
