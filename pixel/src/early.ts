/** The maximum number of kept interactions; a blocked chunk never reads them. */
const entriesMax = 200

/**
 * Keeps the interactions of a page until chunks/vitals.ts has loaded, because browsers buffer none below 104 ms.
 * The threshold is that of web-vitals.
 */
export const keepEarly = (): void => {
  const entries: PerformanceEntry[] = []
  const keep = (more: PerformanceEntry[]) => {
    if (entries.length < entriesMax) entries.push(...more)
  }
  const observer = new PerformanceObserver((list) => keep(list.getEntries()))
  for (const type of ['event', 'first-input'])
    if (PerformanceObserver.supportedEntryTypes.includes(type))
      observer.observe({ type, durationThreshold: 40 } as PerformanceObserverInit)
  window.footfall!.early ||= () => {
    keep(observer.takeRecords())
    observer.disconnect()
    return entries
  }
}
