/** Copies, videos and scrolling, loaded when the page has the first. The pixel passes the event and its own functions. */
import type { CapturedData, Description } from '../../schemas/captured.ts'
import type { find as Find } from '../src/element.ts'
import type { More } from '../src/more.ts'
import { watchDepth } from './depth.ts'
import { watchFields } from './fields.ts'

type Type =
  | 'scroll'
  | 'focusin'
  | 'submit'
  | 'copy'
  | 'cut'
  | 'play'
  | 'pause'
  | 'timeupdate'
  | 'ended'

/** An event, what was selected, and the functions of the pixel. */
interface Captured {
  type: Type
  path: Element[]
  selected: string | false
  note(
    type: Type,
    data: () => CapturedData<'copy'> | CapturedData<'play'>,
    path: EventTarget[],
  ): void
  more: More
  find: typeof Find
  steps(element: Element, path: Element[]): Description[]
  unread: string
  masked: string
  searchField: RegExp
  /** Longest text of a copy. */
  max: number
}

const mask = '***'
/** More fields than this are not compared with the selection, which takes long: its text is masked. */
const fieldsMax = 99

/** Whether the text may be of a field, which is private. */
const isPrivate = (path: Element[], { find, unread, selected }: Captured): boolean => {
  if (find(path, unread)) return true
  const selection = window.getSelection()!
  // The visitor has selected something else since then.
  if (`${selection}` !== selected) return true
  // Not the document's own property: an image of the page may have its name.
  const fields = Document.prototype.querySelectorAll.call(document, unread)
  return (
    fields.length > fieldsMax || [...fields].some((field) => selection.containsNode(field, true))
  )
}

function noteCopy(captured: Captured): void {
  const { note, type, path, selected, max } = captured
  if (!selected) return
  const text = isPrivate(path, captured) ? mask : selected.slice(0, max)
  note(type, () => ({ text, textLength: selected.length }), path)
}

const short = (text: string) => /^data:[^,;]*|^.{0,2048}/s.exec(text)![0]
type Player = HTMLVideoElement
/** What records the events of a player, for each pixel of the page. */
const heard = new WeakMap<Element, Map<unknown, (type: Type) => void>>()

/** Muted videos that start by themselves, or play in a loop, are decoration. */
const isDecoration = ({ muted, autoplay, loop }: Player) => muted && (autoplay || loop)

/** The pixel passes each start of a player; the rest is heard on the player itself. */
function notePlay({ note, steps, type, path }: Captured): void {
  const player = path[0] as Player
  const pixels = heard.get(player) ?? new Map()
  heard.set(player, pixels)
  let reached = 0
  const tell = (type: Type) => {
    const { currentTime, duration, currentSrc, ended } = player
    const quarter = ((4 * currentTime) / duration) | 0
    if (isDecoration(player) || (type === 'timeupdate' && (quarter > 3 || quarter <= reached)))
      return
    reached = quarter
    const src = short(`${currentSrc}`)
    // NaN while unknown, Infinity for a live stream: both durations are null in JSON.
    note(
      type,
      () => ({ path: steps(player, path), currentTime, duration, currentSrc: src, ended }),
      path,
    )
  }
  if (!pixels.has(note)) {
    pixels.set(note, tell)
    for (const type of ['pause', 'timeupdate', 'ended'] as const)
      player.addEventListener(type, () => {
        try {
          tell(type)
        } catch {}
      })
  }
  pixels.get(note)!(type)
}

export default function capture(captured: Captured): void {
  const { type, path, more, note } = captured
  more.capture = capture as never
  if (type === 'focusin' || type === 'submit') watchFields(more, { ...captured, mask })
  else if (type === 'scroll') {
    watchDepth(more, note as never)
    more.scroll!(path[0])
  } else if (type === 'play') notePlay(captured)
  else noteCopy(captured)
}
