/**
 * Classifies clicks, if the settings enable it. Rage: three at one place within a second of each other. Dead:
 * no change after the click. The thresholds are those of PostHog, so that numbers are comparable.
 */
import type { CapturedData } from '../../schemas/captured.ts'

type Clicked = (event: MouseEvent, path: Element[]) => (() => CapturedData<'click'>) | undefined

/** Functions of the pixel: to describe a click, and to record an event. */
interface Pixel {
  click: Clicked
  note(type: 'rage' | 'dead', data: () => CapturedData<'rage'>, path: EventTarget[]): void
}

interface Candidate {
  target: Element
  at: number
  tell(): void
}

const rageClicks = 3
const rageWithinMs = 1000
const rageWithinPx = 30
const answeredWithinMs = 2500
/** A scroll or a selection after this time is not a reaction to a click. */
const promptWithinMs = 100
/** The page was woken by the click, or the click opened another window. */
const focusWithinMs = 1000
/** Handlers that ran this long, or an open dialog, count as a reaction. */
const blockedMs = 200

/**
 * Elements for typing, selecting and stepping: repeated clicks are normal, and the elements show the effect
 * themselves.
 */
const fields =
  'input:not([type=button],[type=submit],[type=image],[type=reset]),textarea,select,option,label,[contenteditable]:not([contenteditable=false]),[role=textbox],[role=spinbutton],[role=slider]'
/** Elements whose reaction to a click does not change the page visibly for this script. */
const silent = 'a[href],area,video,audio,canvas,embed,object,iframe,summary,[download]'
/** Events that show a reaction to a click. */
const reactions =
  'change,input,submit,invalid,toggle,beforetoggle,fullscreenchange,copy,cut,paste,play,pause,volumechange,dragstart,hashchange,popstate,pagehide'
const stepper = /^(next|prev(ious)?|[-+−–<>‹›«»◀▶])$/i

const now = () => performance.now()
const hasRange = () => window.getSelection()?.type === 'Range'
/** Not the property of the element: a field of a form may have this name. */
const matches = (step: EventTarget, selector: string) =>
  step instanceof Element && Element.prototype.matches.call(step, selector)
const isIn = (path: EventTarget[], selector: string) => path.some((step) => matches(step, selector))

/** A control that steps by its text or its name: clicked as often as there are steps. */
const isStepper = (path: EventTarget[]) =>
  (path as Element[])
    .slice(0, 4)
    .some(
      (step) =>
        matches(step, 'button,a,[role=button]') &&
        [step.textContent, step.getAttribute('aria-label')].some((name) =>
          stepper.test(name?.trim() ?? ''),
        ),
    )

/** Whether a click is the third at one place within a short time. */
const createRageTest = () => {
  let row: { x: number; y: number; at: number; count: number } | undefined
  return (
    { clientX: x, clientY: y, timeStamp: at, detail }: MouseEvent,
    path: EventTarget[],
  ): boolean => {
    // A triple click that selects a paragraph; the keyboard's clicks have no place.
    if (detail === 0 || hasRange() || isIn(path, fields) || isStepper(path)) {
      row = undefined
      return false
    }
    const isSame =
      row && Math.abs(x - row.x) + Math.abs(y - row.y) < rageWithinPx && at - row.at < rageWithinMs
    row = { x, y, at, count: isSame ? row!.count + 1 : 1 }
    return row.count === rageClicks
  }
}

/** Records a reaction to the clicks of the last given milliseconds. */
type Answered = (withinMs: number) => void

/** Watches the focus and selections. Returns whether one of them explains a click without a reaction. */
const watchFocus = (answered: Answered) => {
  let lastFocus = Number.NEGATIVE_INFINITY
  let lastSelection = Number.NEGATIVE_INFINITY
  /** The last press, and the first of the same double or triple click. */
  let pressed = { at: 0, firstAt: 0, hadRange: false }
  for (const type of ['focus', 'blur', 'visibilitychange'])
    window.addEventListener(
      type,
      ({ target }) => {
        if (target !== window && target !== document) return
        lastFocus = now()
        answered(focusWithinMs)
      },
      true,
    )
  window.addEventListener(
    'mousedown',
    ({ detail }) => {
      const at = now()
      pressed = { at, firstAt: detail > 1 ? pressed.firstAt : at, hadRange: hasRange() }
    },
    true,
  )
  document.addEventListener('selectionchange', () => {
    lastSelection = now()
    // A double click selects text with its second press, which is also a reaction to the first press.
    if (hasRange()) answered(promptWithinMs + pressed.at - pressed.firstAt)
  })
  return () =>
    now() - lastFocus <= focusWithinMs ||
    // A selection by pressing, dragging, or by clicking outside of it.
    (lastSelection >= pressed.at && (hasRange() || pressed.hadRange))
}

/** Watches events and calls of the page that are reactions to a click. */
const watchReactions = (answered: Answered) => {
  for (const type of `scroll,${reactions}`.split(','))
    window.addEventListener(
      type,
      () => answered(type === 'scroll' ? promptWithinMs : answeredWithinMs),
      true,
    )
  // Only events of the page itself count as a reaction; measurements may arrive at any time.
  const { q } = window.footfall as { q: unknown[][] }
  const { push } = q
  q.push = (call) => {
    if (call[1] !== 'web_vitals') answered(answeredWithinMs)
    return push.call(q, call)
  }
  // The window that has the focus then is another one, but for browsers that open it behind.
  const { open } = window
  window.open = (...call) => {
    answered(answeredWithinMs)
    return open.apply(window, call)
  }
}

export default function watchFrustration({ click, note }: Pixel): void {
  let candidates: Candidate[] = []
  const answered: Answered = (withinMs) => {
    candidates = candidates.filter(({ at }) => now() - at > withinMs)
  }
  const changes = new MutationObserver(() => answered(answeredWithinMs))
  const watch = (root: Node) =>
    changes.observe(root, { subtree: true, childList: true, attributes: true, characterData: true })
  const isRage = createRageTest()
  const isExplained = watchFocus(answered)

  /** Reports the click as dead, unless a reaction followed. Watching costs the page a little time with each change. */
  const judge = (candidate: Candidate) => {
    if (candidates.includes(candidate)) candidate.tell()
    candidates = candidates.filter((other) => other !== candidate)
    if (candidates.length === 0) changes.disconnect()
  }

  const mayBeDead = (event: MouseEvent, path: EventTarget[]) =>
    event.isTrusted &&
    !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) &&
    !matches(path[0]!, 'html,body') &&
    !isIn(path, `${fields},${silent}`) &&
    !isExplained() &&
    !candidates.some(({ target, at }) => target === path[0] && now() - at < rageWithinMs)

  const judgeClick = (event: MouseEvent) => {
    const path = event.composedPath()
    const url = document.URL
    const at = Date.now()
    // A click by a script, for example on a hidden link, is the reaction to the previous click.
    if (!event.isTrusted) answered(answeredWithinMs)
    const noted = click(event, path as Element[])
    if (!noted) return
    const tell = (type: 'rage' | 'dead') => note(type, () => ({ ...noted(), url, at }), path)
    if (isRage(event, path)) tell('rage')
    if (!mayBeDead(event, path)) return
    watch(document)
    for (const step of path) if (step instanceof ShadowRoot) watch(step)
    const candidate: Candidate = { target: path[0] as Element, at: now(), tell: () => tell('dead') }
    candidates.push(candidate)
    setTimeout(() => {
      if (now() - candidate.at > blockedMs) answered(answeredWithinMs)
    })
    setTimeout(judge, answeredWithinMs * 1.1, candidate)
  }

  watchReactions(answered)
  window.addEventListener(
    'click',
    (event) => {
      try {
        judgeClick(event)
      } catch {}
    },
    true,
  )
}
