/** The types of `footfall/pixel`, copied next to the built module: no imports, so they resolve anywhere. */

export interface Settings {
  /**
   * "granted": an id is kept from the start. Until footfall('consent', 'granted'), "cookieless": events go at once,
   * without an id; "hold": they wait in the page; "off": nothing is even noted.
   */
  consent: 'granted' | 'cookieless' | 'hold' | 'off'
  /** Treat Global Privacy Control and Do Not Track as no consent. */
  honour_gpc: boolean
  /** Longest text of a click or a copy, in characters. */
  text_length_max: number
  /** CSS selectors of elements whose text is masked, as data-footfall-mask does. */
  mask_selectors: string[]
  /** Query parameters that are not stored, in addition to those with secrets. */
  ignore_query_parameters: string[]
  /** Query parameters whose value is a search on this site. */
  search_parameters: string[]
  /** File name extensions, in lower case, whose links are downloads. */
  download_extensions: string[]
  /** Link a visitor to the e-mail addresses sent in forms, hashed in the page; only with consent. */
  identify_forms: boolean
  /** Count a page view for each change of the fragment; "#/route" and "#!/route" always are pages. */
  track_hash: boolean
  /** Count a page view where history.replaceState changed only the query and rested, as for filters that are pages. */
  track_query: boolean
  /** Also watch YouTube and Vimeo players. */
  video_embeds: boolean
  /** Measure LCP, INP, CLS, FCP and TTFB, as custom events named web_vitals. */
  web_vitals: boolean
  /** Tell rage and dead clicks, as custom events named rage_click and dead_click. */
  frustration: boolean
}

export interface Options extends Partial<Settings> {
  pixel_id: string
  /** Where events go: "https://collector.example/e"; a path is taken on the page's own origin. */
  endpoint: string
}

/** All commands but `track`, whose events a tracking plan may type. */
export interface Commands {
  /** Counts a page view the browser did not see, such as a step of a wizard; data overrides its fields. */
  (command: 'page', data?: object): void
  /**
   * Says who this browser belongs to. The address is hashed here; only the hash is sent. The signature is the hash's
   * HMAC-SHA256, hex, made by your server with the pixel's identify secret.
   */
  (
    command: 'identify',
    person: ({ email: string } | { hem: string }) & { signature?: string },
  ): void
  /** The visitor's choice. Call it on each page load. */
  (command: 'consent', choice: 'granted' | 'denied'): void
  /** The visitor wants nothing noted: on no page of this site, whatever it says; until opt_in. */
  (command: 'opt_out' | 'opt_in'): void
  /** Properties for every later custom event of this page; an event's own win over them. */
  (command: 'set', properties: object): void
  /** Sends what waits, now. */
  (command: 'flush'): void
}

export interface Footfall extends Commands {
  /** Sends a custom event; the properties are JSON. */
  (command: 'track', name: string, properties?: object): void
}

/** Starts the pixel, once per page; a second call answers the same function. */
export declare function init(options: Options): Footfall
