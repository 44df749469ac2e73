import { type MetricType, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals'

/** One custom event for each metric, when it is final or the page is hidden. */
const report = ({ name, value, rating }: MetricType) =>
  window.footfall!('track', 'web_vitals', { name, value, rating })

for (const watch of [onCLS, onFCP, onINP, onLCP, onTTFB]) watch(report as never)
