/**
 * IAB Europe's Transparency and Consent Framework (TCF 2) for Footfall: put this after your consent platform's stub,
 * which defines __tcfapi, and after the pixel's first line. Set the pixel's `consent` to "cookieless" or "hold": that
 * holds until the visitor has chosen.
 *
 * Granted are purpose 1 (store and access information on a device) and 8 (measure content performance). Footfall runs on
 * your own collector and is no vendor of the global list, so no vendor's consent is asked for.
 */
window.__tcfapi?.('addEventListener', 2, ({ eventStatus, gdprApplies, purpose }, success) => {
  // While the banner is open nothing has been chosen yet.
  if (!success || (eventStatus !== 'tcloaded' && eventStatus !== 'useractioncomplete')) return
  const isGranted = gdprApplies === false || (purpose.consents[1] && purpose.consents[8])
  window.footfall('consent', isGranted ? 'granted' : 'denied')
})
