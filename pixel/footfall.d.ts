/** The types of `footfall/pixel`, copied beside the built module: no imports, so they resolve anywhere. */

export interface Settings {
  /**
   * "granted": keep an id from the start. "cookieless": events go at once, without an id, until
   * footfall('consent', 'granted'). "hold": nothing leaves the page before that.
   */
  consent: 'granted' | 'cookieless' | 'hold'
  /** Treat Global Privacy Control and Do Not Track as no consent. */
  honour_gpc: boolean
  /** Longest text of a click or a copy, in characters. */
  text_length_max: number
  /** Query parameters whose value is a search on this site. */
  search_parameters: string[]
  /** File name extensions whose links are downloads. */
  download_extensions: string[]
}

export interface Options extends Partial<Settings> {
  pixel_id: string
  /** Where events go: "https://collector.example/e"; a path is taken on the page's own origin. */
  endpoint: string
}

export interface Footfall {
  /** Sends a custom event; the properties are JSON. */
  (command: 'track', name: string, properties?: object): void
  /** Counts a page view the browser did not see, such as a step of a wizard; data overrides its fields. */
  (command: 'page', data?: object): void
  /** Says who this browser belongs to. The address is hashed here; only the hash is sent. */
  (command: 'identify', person: { email: string } | { hem: string }): void
  /** What the visitor decided; to be said on each page load. */
  (command: 'consent', choice: 'granted' | 'denied'): void
  /** Properties for every later custom event of this page; an event's own win over them. */
  (command: 'set', properties: object): void
  /** Sends what waits, now. */
  (command: 'flush'): void
}

/** Starts the pixel, once per page; a second call answers the same function. */
export declare function init(options: Options): Footfall
