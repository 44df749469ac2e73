import type { BeaconReceipt, RejectedEvent } from '../../../schemas/beacon.ts'
import type { IgnoreSetting } from '../../../schemas/ignored.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import {
  type Answer,
  type BeaconSeen,
  type Observation,
  pixelIdOf,
  type ScriptSeen,
} from './observe.ts'

export interface Finding {
  ok: boolean
  text: string
}

const good = (text: string): Finding => ({ ok: true, text })
const bad = (text: string): Finding => ({ ok: false, text })

/** Explains in plain words whether the pixel is installed and works, or which problem prevents it. */
export function explain(seen: Observation): Finding[] {
  const { scripts, beacons, violations, isRunning, hasStub } = seen
  if (seen.failure !== null) return [bad(`The page did not load: ${seen.failure}.`)]
  const findings =
    seen.status !== null && seen.status < 400
      ? [good(`The page answered ${seen.status}.`)]
      : [bad(`The page answered ${seen.status}. The rest describes that answer.`)]
  if (scripts.length === 0 && !isRunning && beacons.length === 0)
    return [...findings, bad(notInstalled(hasStub))]

  findings.push(...scripts.map((script) => explainScript(script, seen)))
  if (isRunning) findings.push(good('The pixel runs on the page.'))
  else if (findings.every(({ ok }) => ok)) findings.push(bad(notRunning(seen)))
  if (beacons.length > 0) findings.push(explainConsent(beacons))
  findings.push(...beacons.map((beacon) => explainBeacon(beacon, seen)))
  if (isRunning && beacons.length === 0) findings.push(bad(sentNothing(seen)))
  if (hasStub && violations.some(({ blocked }) => blocked === 'inline'))
    findings.push(bad(stubBlocked))
  return findings
}

/** Describes what the pixel sent before any consent: nobody clicks a banner in a check. */
function explainConsent(beacons: readonly BeaconSeen[]): Finding {
  if (beacons.every(({ isAfterConsent }) => isAfterConsent))
    return good(
      "Without consent, it sent nothing. Then the check called footfall('consent', 'granted').",
    )
  return good(
    beacons.some(({ hasVisitorId }) => hasVisitorId)
      ? 'Without a choice in a banner, it sent an id of the visitor: its settings grant consent, or the page does.'
      : 'Without consent, it sent no id of the visitor.',
  )
}

const notInstalled = (hasStub: boolean) =>
  hasStub
    ? 'The pixel is not installed: the page has the inline stub, but no script from …/p/PIXEL_ID.js.'
    : 'The pixel is not installed: the page has no script from …/p/PIXEL_ID.js, not even one that a tag manager added.'

const stubBlocked =
  'The page’s Content-Security-Policy blocks the inline stub, so calls before the pixel loads are lost. Give it the page’s nonce, or remove it.'

function notRunning({ errors, complaints, scripts }: Observation): string {
  const isOurs = (text: string) => scripts.some(({ url }) => text.includes(url))
  const error = errors.find(({ stack }) => isOurs(stack))
  if (error) return `The pixel’s script stopped with an error: ${error.message}.`
  const complaint = complaints.find(isOurs)
  if (complaint) return `The script loaded, but the browser refused it: ${complaint}`
  return 'The script loaded, but the pixel does not run: the address does not serve the pixel.'
}

/** A request that a policy blocks is invisible; only its violation is reported. */
function sentNothing({ scripts, violations }: Observation): string {
  const origins = scripts.map(({ url }) => new URL(url).origin)
  const forbidden = violations.find(
    ({ directive, blocked }) =>
      directive === 'connect-src' && origins.some((origin) => blocked.startsWith(origin)),
  )
  return forbidden
    ? `The page’s Content-Security-Policy (connect-src) blocks requests to ${forbidden.blocked}: allow its origin.`
    : 'It sent nothing, not even after consent: a script of the page prevents it from sending.'
}

function explainScript({ url, type, answer }: ScriptSeen, seen: Observation): Finding {
  const id = pixelIdOf(url)!
  if (!isUuid(id))
    return bad(`“${id}” in ${url} is not a pixel id. Copy the id from the snippet of your pixel.`)
  const forbidden = seen.violations.find(({ blocked }) => blocked === url)
  if (forbidden)
    return bad(
      `The page’s Content-Security-Policy (${forbidden.directive}) blocks ${url}: allow its origin.`,
    )
  if (answer === null)
    return bad(
      ['', 'text/javascript', 'module'].includes(type)
        ? `The browser did not ask for ${url}.`
        : `${url} is held back: its script tag has type “${type}”, as consent managers set it before consent.`,
    )
  if (answer.status !== null && answer.status !== 200)
    return bad(`${url} answered ${answer.status}: ${reasonOf(answer, id)}`)
  if (answer.failure === null)
    return good(`Pixel ${id} is installed: ${url} loaded, ${answer.body.length} characters.`)
  if (seen.url.startsWith('https:') && url.startsWith('http:'))
    return bad(`${url} is blocked: pages with https load scripts only from https.`)
  return bad(`${url} did not load: ${unreachable(answer, url, seen)}`)
}

function explainBeacon({ url, pixelId, events, answer }: BeaconSeen, seen: Observation): Finding {
  const what = events
    .map(({ type, name }) => (name === null ? type : `${type} “${name}”`))
    .join(', ')
  const sent = `It sent ${what || 'no events'} to ${url}`
  if (answer === null) return bad(`${sent}, without an answer so far.`)
  if (answer.failure !== null)
    return bad(`${sent}, which did not arrive: ${unreachable(answer, url, seen)}`)
  if (answer.status !== 200) return bad(`${sent}: ${answer.status}, ${reasonOf(answer, pixelId)}`)
  return explainReceipt(sent, answer)
}

function explainReceipt(sent: string, { body }: Answer): Finding {
  const receipt = parsed<BeaconReceipt>(body)
  if (!Array.isArray(receipt?.rejected))
    return bad(`${sent}: 200, but the address is not a collector.`)
  const { accepted, rejected, ignored = 0, ignored_by = [] } = receipt
  const parts = accepted > 0 ? [`${accepted} accepted and marked as a test`] : []
  if (ignored > 0)
    parts.push(`${ignored} ignored, because the project ignores ${ignoredTexts(ignored_by)}`)
  const invalid = rejected.filter(({ code }) => code !== 'bot_dropped')
  const dropped = rejected.length - invalid.length
  if (dropped > 0)
    parts.push(`${dropped} not stored, because this pixel drops bots and this check is a bot`)
  if (invalid.length > 0) parts.push(`${invalid.length} rejected (${reasonsOf(invalid)})`)
  const finding = invalid.length > 0 ? bad : good
  return finding(`${sent}: ${parts.join(', ') || 'no events to accept'}.`)
}

const reasonsOf = (rejected: readonly RejectedEvent[]): string =>
  rejected.map(({ index, path, message }) => `event ${index}: ${path} ${message}`).join('; ')

const ignoredTexts = (settings: readonly IgnoreSetting[]): string =>
  settings.map((setting) => `${ignoredParts[setting]} (${setting})`).join(' and ')

const ignoredParts: Record<IgnoreSetting, string> = {
  ignored_networks: 'this network',
  ignored_hosts: 'the host of this page',
  ignored_paths: 'the path of this page',
}

/** Explains a refusal: by its `error` if the collector answered. */
function reasonOf({ status, body }: Answer, pixelId: string): string {
  const { error = '', message } = parsed<{ error?: string; message?: string }>(body) ?? {}
  const reasons: Record<string, string> = {
    'pixel not found': `the collector has no pixel ${pixelId}. Check the id and the address of the collector.`,
    'pixel inactive': 'the pixel exists, but has been switched off.',
    busy: 'the collector is full. The browser keeps the events and sends them again.',
  }
  return (
    reasons[error] ??
    message ??
    (status === 404
      ? 'nothing is served at this address.'
      : 'this is not the answer of a collector.')
  )
}

/** Explains a failed request by the browser's error and other observations. */
function unreachable(
  { failure, status }: Answer,
  url: string,
  { complaints }: Observation,
): string {
  if (/NAME_NOT_RESOLVED|CONNECTION_REFUSED|ADDRESS_/.test(failure!))
    return `its host cannot be reached (${failure}): it is down, or a blocker on the network blocks it.`
  if (/CERT|SSL/.test(failure!)) return `its certificate is not trusted (${failure}).`
  if (status === 200 || /BLOCKED/.test(failure!))
    return `something in the browser blocks it (${failure}).`
  return complaints.find((complaint) => complaint.includes(url)) ?? `${failure}.`
}

function parsed<T>(body: string): T | null {
  try {
    return JSON.parse(body) as T
  } catch {
    return null
  }
}
