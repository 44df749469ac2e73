/** How large the pixel was with the default settings, in bytes as brotli-11 makes them. Add a line with a change. */
export const history = [
  { change: 'nine event types, batches, retry, consent', brotli: 4430 },
  {
    change: 'the collector derives; masks, secrets, opt-out, rage and dead clicks; minified twice',
    brotli: 3508,
  },
  {
    change:
      'the collector derives searches, downloads and marks, strips secrets; hashing is a chunk',
    brotli: 2465,
  },
  { change: 'a search whose page shows it in the URL at once is counted', brotli: 2474 },
  {
    change: 'every event has the referrer; a selector that a browser refuses costs none',
    brotli: 2505,
  },
  {
    change:
      'rage and dead clicks are a chunk; containers that scroll, routes that rest, shadow roots, labels, two pixels, pages that patch arrays',
    brotli: 2994,
  },
  {
    change: 'variants; what scrolls is what told that it did; an id without asking another process',
    brotli: 2938,
  },
  {
    change:
      'what is sent before its URL rests has the referrer of its page; no error is thrown at the start',
    brotli: 2977,
  },
  {
    change: 'each event becomes JSON once; no frame is asked for; names tried 2,200 times',
    brotli: 2958,
  },
  {
    change:
      'a URL that rests by itself, a leaving page that sends at once; names exchanged until they are few bytes',
    brotli: 2931,
  },
  {
    change:
      'V8 is asked to compile all functions at once; no listener for the first showing of a page',
    brotli: 2965,
  },
  {
    change:
      'names inside a page hide nothing of its document and forms; no error of ours in any callback',
    brotli: 3084,
  },
  {
    change: 'what is sent again as its page goes is kept, with what is parked meanwhile',
    brotli: 3119,
  },
  {
    change: 'names inside a page hide none of the ways to find elements, nor a form’s missing href',
    brotli: 3138,
  },
  { change: 'a click tells no more of a page however deep it is', brotli: 3142 },
]

/** Most that each file may take, each variant of the script as a pixel with settings that are else the default gets it; these come down, or go up for a fault that was mended. */
export const budget = {
  'pixel.js': 3145,
  'pixel.frustration.js': 3172,
  'pixel.custom.js': 3232,
  'vitals.js': 3300,
  'early.js': 215,
  'embeds.js': 900,
  'forms.js': 350,
  'identify.js': 300,
  'debug.js': 1200,
  'frustration.js': 1320,
}

/** Prints the files of a build, and how the script came to its size. */
export function printSizes(sizes) {
  console.table(sizes)
  console.table([...history, { change: 'this build', brotli: sizes['pixel.js'].brotli }])
}
