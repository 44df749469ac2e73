/** Interactions from before the chunk came, which the script kept (src/early.ts). */
const early = window.footfall!.early?.() ?? []

/**
 * Stands in for the browser's own in the chunk of web-vitals (build.mjs): who observes is told what was kept, too. What
 * the browser kept as well is told twice, which web-vitals takes for one: it goes by interactionId.
 */
export class PerformanceObserver extends window.PerformanceObserver {
  declare readonly callback: PerformanceObserverCallback

  constructor(callback: PerformanceObserverCallback) {
    super(callback)
    Object.assign(this, { callback })
  }

  override observe(options: PerformanceObserverInit): void {
    super.observe(options)
    const entries = early.filter(({ entryType }) => entryType === options.type)
    if (entries[0])
      this.callback({ getEntries: () => entries } as PerformanceObserverEntryList, this)
  }
}
