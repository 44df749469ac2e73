/** The past sizes of the pixel with default settings, in bytes after brotli-11. Add a line with each change. */
export const history = [
  { change: 'nine event types, batches, retry, consent', brotli: 4430 },
  {
    change:
      'the collector derives fields; masks, secrets, opt-out, rage and dead clicks; minified twice',
    brotli: 3508,
  },
  {
    change:
      'the collector derives searches, downloads and marks, and removes secrets; hashing is a chunk',
    brotli: 2465,
  },
  { change: 'searches count on pages that show them in the URL at once', brotli: 2474 },
  {
    change: 'every event has the referrer; an invalid selector loses no event',
    brotli: 2505,
  },
  {
    change:
      'rage and dead clicks are a chunk; scroll containers, stable routes, shadow roots, labels, two pixels, pages that patch arrays',
    brotli: 2994,
  },
  {
    change:
      'variants; only elements that scrolled are measured; visitor id without a request to another process',
    brotli: 2938,
  },
  {
    change:
      'events before the URL is stable have the referrer of their page; no error at the start',
    brotli: 2977,
  },
  {
    change: 'each event becomes JSON once; no animation frame; 2,200 names tried',
    brotli: 2958,
  },
  {
    change: 'detects a stable URL without a timer, sends at once when the page closes; short names',
    brotli: 2931,
  },
  {
    change: 'V8 compiles all functions at once; no listener for the first display of a page',
    brotli: 2965,
  },
  {
    change:
      'elements named like properties do not hide those of document and forms; no error in callbacks',
    brotli: 3084,
  },
  {
    change: 'events that are sent again while the page closes are kept',
    brotli: 3119,
  },
  {
    change: 'elements named like methods do not hide them, nor a missing href of a form',
    brotli: 3138,
  },
  { change: 'the description of a click has a fixed size at any depth', brotli: 3142 },
  {
    change: 'waiting events older than 30 days are dropped; shorter sent_at; 9,000 names tried',
    brotli: 3113,
  },
  {
    change:
      'scroll depth, copies, videos and fields are a chunk; globals that pages hide, slots, the Navigation API, limits of copied texts and of the queue',
    brotli: 3111,
  },
  {
    change: 'the pixel says that a page granted consent, where the settings wait for it',
    brotli: 3136,
  },
]

/**
 * Maximum size of each file, for each variant of the script, with default settings otherwise. Budgets
 * decrease, or increase for the fix of a fault.
 */
export const budget = {
  'pixel.js': 3136,
  'pixel.frustration.js': 3173,
  'pixel.custom.js': 3203,
  'capture.js': 1242,
  'vitals.js': 3300,
  'early.js': 215,
  'embeds.js': 900,
  'forms.js': 350,
  'identify.js': 300,
  'debug.js': 1200,
  'frustration.js': 1335,
}

/** Prints the files of a build and the history of the script's size. */
export function printSizes(sizes) {
  console.table(sizes)
  console.table([...history, { change: 'this build', brotli: sizes['pixel.js'].brotli }])
}
