/** Runs what could go wrong: the host page must not notice. */
export const attempt = <R>(work: () => R): R | undefined => {
  try {
    return work()
  } catch {}
}

/** The same at a later time, because the page would receive exceptions of a timer. Not in the page's zone of zone.js. */
export const later = (work: () => unknown, ms?: number): ReturnType<typeof setTimeout> =>
  (window.__zone_symbol__setTimeout || setTimeout)(() => attempt(work), ms)

/** The longest address or attribute that is copied. The content of a data: URL is no address. */
export const short = (text: string): string => /^data:[^,;]*|^.{0,8192}/s.exec(text)![0]

/**
 * A property of the browser itself: elements inside a form or a document hide its properties with their
 * names.
 */
export const real = <N extends Node, K extends keyof N>(node: N, name: K): N[K] =>
  Reflect.get(Reflect.getPrototypeOf(node)!, name, node)

type Asked = 'matches' | 'closest' | 'querySelector' | 'querySelectorAll'
type Answers<M extends Asked> = M extends 'matches'
  ? boolean
  : M extends 'querySelectorAll'
    ? NodeListOf<HTMLInputElement>
    : HTMLElement | null

/**
 * Applies a selector to a node by its own method. Nodes without the method, such as shadow roots, match
 * nothing.
 */
export const ask = <M extends Asked = 'matches'>(
  node: Node,
  selector: string,
  method = 'matches' as M,
): Answers<M> | undefined =>
  (real(node, method as never) as ((selector: string) => Answers<M>) | undefined)?.call(
    node,
    selector,
  )

/** Stores or removes a text. Returns a true value if storage is available. */
export const store = (key: string, text?: string): unknown =>
  attempt(() => (text ? (localStorage[key] = text) : delete localStorage[key]))

/**
 * JSON of a value, also where the page has given arrays a toJSON of their own, as Prototype.js does, or all objects one.
 * There alone, for browsers take several times as long when they have to ask.
 */
export const json = (value: unknown): string =>
  JSON.stringify(
    value,
    (([] as { toJSON?: unknown }).toJSON &&
      function (this: Record<string, unknown>, key: string, part: unknown) {
        return (this[key] as { toJSON?: unknown } | null)?.toJSON ===
          ([] as { toJSON?: unknown }).toJSON
          ? this[key]
          : part
      }) as undefined,
  )
