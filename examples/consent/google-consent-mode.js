/**
 * Google's Consent Mode v2 for Footfall: what the visitor chooses, which a page, its banner or Tag Manager says by
 * gtag('consent', 'update', { analytics_storage: 'granted' | 'denied' }), holds for the pixel, too. Put this after the
 * pixel's first line, as a script of its own or as a "Custom HTML" tag with the trigger "Consent Initialization".
 *
 * Defaults are for the pixel's own setting `consent` to say: "cookieless" or "hold" where you ask first. A default comes
 * on each page, before what the visitor chose long ago: taken for a no, it would cost a returning visitor their id.
 *
 * A template that calls updateConsentState puts nothing into dataLayer: then let your banner's own events in Tag Manager
 * run a tag with footfall('consent', 'granted') and one with footfall('consent', 'denied').
 */
;((layer) => {
  const hear = (call) => {
    if (call?.[0] !== 'consent' || call[1] !== 'update') return
    const choice = call[2]?.analytics_storage
    if (choice) window.footfall('consent', choice)
  }
  // What was said before, then all that comes.
  for (const call of layer) hear(call)
  const { push } = layer
  layer.push = (...calls) => {
    for (const call of calls) hear(call)
    return push.apply(layer, calls)
  }
  // biome-ignore lint/suspicious/noAssignInExpressions: as Google's own snippet has it
})((window.dataLayer = window.dataLayer || []))
