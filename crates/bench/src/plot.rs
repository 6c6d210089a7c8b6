//! Charts: throughput and memory over time, and the ratios of kernels with what is wanted.

use std::error::Error as AnyError;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::{Report, Row, Series};
use crate::{Error, Result, targets};

/// Width and height in pixels.
const SIZE: (u32, u32) = (1000, 520);
const FONT: &str = "sans-serif";
/// Told apart by people who see fewer colours, too (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
];

/// What drawing may fail with.
type Drawn = Result<(), Box<dyn AnyError>>;

/// Draws a chart of everything that was measured and can be drawn, into a folder.
pub(crate) fn draw(report: &Report, folder: &Path) -> Result<()> {
    let on_file = |name: &str, draw: &dyn Fn(&Canvas<'_>) -> Drawn| {
        let path = folder.join(name);
        let canvas = SVGBackend::new(&path, SIZE).into_drawing_area();
        let drawn = canvas.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&canvas));
        let drawn = drawn.and_then(|()| Ok(canvas.present()?));
        drop(canvas);
        drawn.map_err(|error| Error::Plot { path: path.clone(), message: error.to_string() })
    };
    if !report.throughput.is_empty() {
        let unit = "million updates per second";
        let lines = Lines { title: "Updates over time", unit, scale: 1e-6 };
        on_file("throughput.svg", &|canvas| lines.draw(canvas, &report.throughput))?;
    }
    if !report.memory.is_empty() {
        let lines = Lines { title: "Memory over time", unit: "bytes per entry", scale: 1.0 };
        on_file("memory.svg", &|canvas| lines.draw(canvas, &report.memory))?;
    }
    let ratios: Vec<&Row> =
        report.rows.iter().filter(|row| row.baseline == Some("csr") && row.unit == "s").collect();
    if !ratios.is_empty() {
        on_file("ratios.svg", &|canvas| draw_ratios(canvas, &ratios))?;
    }
    Ok(())
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Free space above and beside what is drawn.
const ROOM: f64 = 1.1;
/// Bars of greater ratios are cut off, so that those near 1 can be told apart; their numbers stand
/// on them.
const RATIO_DRAWN_MAX: f64 = 3.0;

/// Lines over seconds.
struct Lines {
    title: &'static str,
    unit: &'static str,
    /// What values are multiplied by to be in the unit.
    scale: f64,
}

impl Lines {
    fn draw(&self, canvas: &Canvas<'_>, series: &[Series]) -> Drawn {
        let points = || series.iter().flat_map(|series| &series.points);
        let scaled = |&(x, y): &(f64, f64)| (x, y * self.scale);
        let right = ROOM * points().map(|point| point.0).fold(f64::MIN_POSITIVE, f64::max);
        let top = ROOM * points().map(|point| scaled(point).1).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = ChartBuilder::on(canvas)
            .caption(self.title, (FONT, 22))
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(90)
            .build_cartesian_2d(0.0..right, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .y_desc(self.unit)
            .light_line_style(WHITE)
            .draw()?;
        for (series, colour) in series.iter().zip(COLOURS.into_iter().cycle()) {
            let line = LineSeries::new(series.points.iter().map(scaled), colour.stroke_width(2));
            chart.draw_series(line)?.label(&series.name).legend(move |at| swatch(at, colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        Ok(())
    }
}

/// The colour of a series beside its name.
fn swatch((x, y): (i32, i32), colour: RGBColor) -> Rectangle<(i32, i32)> {
    Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled())
}

/// A group of bars per kernel, a bar per state; a black line is what is wanted.
fn draw_ratios(canvas: &Canvas<'_>, rows: &[&Row]) -> Drawn {
    let kernels = distinct(rows.iter().map(|row| row.metric.to_owned()));
    let states = distinct(rows.iter().map(|row| state(row)));
    let greatest = rows.iter().filter_map(|row| row.ratio).fold(1.0, f64::max);
    let top = ROOM * greatest.clamp(2.0, RATIO_DRAWN_MAX);
    let mut chart = ChartBuilder::on(canvas)
        .caption("Time on the live graph / time on a static array", (FONT, 22))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..kernels.len() as f64, 0.0..top)?;
    chart.configure_mesh().disable_x_mesh().x_labels(0).light_line_style(WHITE).draw()?;
    let small = Pos::new(HPos::Center, VPos::Bottom);
    let small = (FONT, 11).into_font().color(&BLACK).pos(small);
    // Bars take four fifths of a group's width.
    let width = 0.8 / states.len() as f64;
    for (place, (name, colour)) in states.iter().zip(COLOURS.into_iter().cycle()).enumerate() {
        let bars = rows.iter().filter(|row| state(row) == *name).filter_map(|row| {
            let group = kernels.iter().position(|kernel| kernel == row.metric)?;
            let left = group as f64 + 0.1 + place as f64 * width;
            Some(Bar { left, ratio: row.ratio?, wanted: targets::ratio_max(row) })
        });
        let bars: Vec<Bar> = bars.collect();
        let drawn = chart.draw_series(bars.iter().map(|bar| bar.body(width, colour)))?;
        drawn.label(name).legend(move |at| swatch(at, colour));
        chart.draw_series(bars.iter().filter_map(|bar| bar.wanted_line(width)))?;
        chart.draw_series(bars.iter().map(|bar| {
            let at = (bar.left + 0.45 * width, bar.ratio.min(RATIO_DRAWN_MAX));
            Text::new(format!("{:.2}", bar.ratio), at, small.clone())
        }))?;
    }
    let even = [(0.0, 1.0), (kernels.len() as f64, 1.0)];
    chart.draw_series(LineSeries::new(even, BLACK.mix(0.5)))?;
    let middle = Pos::new(HPos::Center, VPos::Top);
    let style = (FONT, 15).into_font().color(&BLACK).pos(middle);
    for (group, kernel) in kernels.iter().enumerate() {
        let (x, y) = chart.plotting_area().map_coordinate(&(group as f64 + 0.5, 0.0));
        canvas.draw(&Text::new(kernel.as_str(), (x, y + 8), style.clone()))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

/// A bar of the chart of ratios.
struct Bar {
    left: f64,
    ratio: f64,
    wanted: Option<f64>,
}

impl Bar {
    fn body(&self, width: f64, colour: RGBColor) -> Rectangle<(f64, f64)> {
        let top = self.ratio.min(RATIO_DRAWN_MAX);
        Rectangle::new([(self.left, 0.0), (self.left + 0.9 * width, top)], colour.filled())
    }

    /// A line at what is wanted.
    fn wanted_line(&self, width: f64) -> Option<PathElement<(f64, f64)>> {
        let wanted = self.wanted?;
        let ends = vec![(self.left, wanted), (self.left + 0.9 * width, wanted)];
        Some(PathElement::new(ends, BLACK.stroke_width(2)))
    }
}

/// What the bars of a row are called.
fn state(row: &Row) -> String {
    let state = match row.state {
        _ if row.writers > 0 => "beside a writer",
        Some(state) => state.name(),
        None => "",
    };
    let plural = if row.threads == 1 { "" } else { "s" };
    format!("{state}, {} thread{plural}", row.threads)
}

/// Each value once, in the order of their first.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
