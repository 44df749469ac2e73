/** The types of `footfall-pixel/pixel`, copied next to the built module: no imports, so they resolve anywhere. */

export interface Settings {
  /**
   * Consent before footfall('consent', 'granted'). With "granted" the pixel stores an id at once. With "cookieless" it
   * sends events without an id. With "hold" events wait in the page. With "off" it records nothing.
   */
  consent: 'granted' | 'cookieless' | 'hold' | 'off'
  /** Treat Global Privacy Control and Do Not Track as denied consent. */
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
  /** Count a page view when history.replaceState changes only the query, as for filters that are pages. */
  track_query: boolean
  /** Also watch YouTube and Vimeo players. */
  video_embeds: boolean
  /** Measure LCP, INP, CLS, FCP and TTFB, as custom events named web_vitals. */
  web_vitals: boolean
  /** Report rage and dead clicks as custom events named rage_click and dead_click. */
  frustration: boolean
}

export interface Options extends Partial<Settings> {
  pixel_id: string
  /** The address for events, such as "https://collector.example/e". A path refers to the page's own origin. */
  endpoint: string
}

/** All commands but `track`, whose events a tracking plan may type. */
export interface Commands {
  /** Counts a page view without a change of the URL, such as a step of a wizard. `data` overrides its fields. */
  (command: 'page', data?: object): void
  /**
   * Links this browser to a person. The address is hashed in the page; only the hash is sent. The signature is the
   * hex HMAC-SHA256 of the hash. Your server computes it with the pixel's identify secret.
   */
  (
    command: 'identify',
    person: ({ email: string } | { hem: string }) & { signature?: string },
  ): void
  /** The visitor's choice. Call it on each page load. */
  (command: 'consent', choice: 'granted' | 'denied'): void
  /** Records nothing on any page of this site, regardless of consent, until opt_in. */
  (command: 'opt_out' | 'opt_in'): void
  /** Properties for every later custom event of this page. An event's own properties override them. */
  (command: 'set', properties: object): void
  /** Sends waiting events now. */
  (command: 'flush'): void
}

export interface Footfall extends Commands {
  /** Sends a custom event; the properties are JSON. */
  (command: 'track', name: string, properties?: object): void
}

/** Starts the pixel, once per page. A second call returns the same function. */
export declare function init(options: Options): Footfall
