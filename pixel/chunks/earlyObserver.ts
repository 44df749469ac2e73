/** Interactions from before the chunk came, which the script kept (src/early.ts). */
const early = window.footfall!.early?.() ?? []

/**
 * Replaces PerformanceObserver in the chunk of web-vitals (build.mjs), so that observers also receive the recorded
 * entries. Entries that the browser also buffered arrive twice. web-vitals counts them once, by interactionId.
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
