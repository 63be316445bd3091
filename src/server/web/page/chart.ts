import Plot from "uplot";
import { h } from "./dom.ts";

export type TimeSeries = {
  readonly name: string;
  /** One value for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
  /** A colour of the style sheet, as `--accent`. */
  readonly colour: string;
};

export type TimeChartOptions = {
  /** What the chart shows, for people who do not see it. */
  readonly label: string;
  /** In CSS pixels. */
  readonly height: number;
  /** Writes a value with its unit, at the axis and while the pointer is over it. */
  readonly format: (value: number) => string;
};

type Shown = { readonly times: readonly number[]; readonly series: readonly TimeSeries[] };

/** Values over time with labelled axes; what the pointer is over is told below. It fills its place's width. */
export interface TimeChart {
  readonly element: HTMLElement;
  /** @param times seconds since 1970, rising */
  show(times: readonly number[], series: readonly TimeSeries[]): void;
}

export function timeChart({ label, height, format }: TimeChartOptions): TimeChart {
  const place = h("div.chart-place", { role: "img", "aria-label": label });
  const told = h("p.fine.number.chart-told");
  let shown: Shown | null = null;
  let plot: Plot | null = null;
  // A canvas takes no variables and no pairs of colours.
  const colourOf = (name: string): string => {
    place.style.color = `var(${name})`;
    return getComputedStyle(place).color;
  };
  const tell = (index: number | null | undefined): void => {
    const { times = [], series = [] } = shown ?? {};
    const at = index ?? times.length - 1;
    const time = times[at];
    told.textContent =
      time === undefined
        ? ""
        : `${new Date(time * 1000).toLocaleTimeString("en-GB")}: ${series
            .map(({ name, values }) => `${name} ${values[at] == null ? "–" : format(values[at])}`)
            .join(", ")}`;
  };
  const draw = (): void => {
    plot?.destroy();
    plot = null;
    if (!shown || place.clientWidth === 0) return;
    const axis = {
      stroke: colourOf("--soft"),
      grid: { stroke: colourOf("--line"), width: 1 },
      ticks: { show: false },
      font: "12px sans-serif",
    };
    const options: Plot.Options = {
      width: place.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      // The clock of 24 hours, as everywhere on the page.
      axes: [
        {
          ...axis,
          space: 90,
          size: 30,
          values: (_, ticks) => ticks.map((tick) => timeOf(tick, (ticks.at(-1) ?? 0) - (ticks[0] ?? 0))),
        },
        { ...axis, size: 64, values: (_, ticks) => ticks.map(format) },
      ],
      scales: { y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.1] } },
      series: [
        {},
        ...shown.series.map(({ name, colour }): Plot.Series => {
          return { label: name, stroke: colourOf(colour), width: 2, points: { show: false } };
        }),
      ],
      hooks: { setCursor: [({ cursor }) => tell(cursor.idx)] },
    };
    plot = new Plot(options, dataOf(shown), place);
    tell(null);
  };
  new ResizeObserver(() => {
    if (plot?.width !== place.clientWidth) draw();
  }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return {
    element: h("figure.chart-figure", place, told),
    show(times, series) {
      const isSame = plot !== null && shown?.series.length === series.length;
      shown = { times, series };
      if (isSame) plot?.setData(dataOf(shown));
      else draw();
      tell(plot?.cursor.idx);
    },
  };
}

/** Seconds are told only on a short axis. */
const timeOf = (seconds: number, span: number): string =>
  new Date(seconds * 1000).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    ...(span < 600 && { second: "2-digit" }),
  });

const dataOf = (chart: Shown): Plot.AlignedData => [
  [...chart.times],
  ...chart.series.map(({ values }) => [...values]),
];
