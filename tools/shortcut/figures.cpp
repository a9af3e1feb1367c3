// `shortcut figures`: the figures of the two papers from this model, beside each the same case with
// the optimal planner, and a page that says where model and published text agree.
#include "shortcut/figures.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "shortcut/commands.hpp"
#include "shortcut/output.hpp"

namespace shortcut::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string page_of(const std::vector<Figure>& figures) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>Figures</title>\n<style>body{font:15px/1.5 sans-serif;margin:24px "
      "auto;max-width:1480px;padding:0 "
      "16px;color:#222}h2{margin-top:40px}img{display:block;max-width:100%;border:1px solid "
      "#ddd;margin:8px "
      "0}.pair{display:flex;flex-wrap:wrap;gap:12px}table{border-collapse:collapse}td,th{border:"
      "1px solid #ccc;padding:3px "
      "10px;text-align:left}td.n{text-align:right}.yes{color:#187a2f}.no{color:#b01c1c}</style></"
      "head><body>\n<h1>The papers' figures, from the model</h1>\n"
      "<p>800 Gb/s links. Every price is Eq. 1: alpha_s + hop_factor h alpha_p + c m beta + r "
      "delta. First the published rule, then the optimal planner on the same case. Beside each "
      "picture a PNG and the numbers as CSV.</p>\n";
  for (const Figure& figure : figures) {
    text += fmt::format(
        "<h2>{0}</h2>\n<p>{1}</p>\n<div{4}><img src=\"{2}.svg\" alt=\"{0}\"><img "
        "src=\"{2}-optimal.svg\" alt=\"{0}, optimal planner\"></div>\n<p><a "
        "href=\"{2}.csv\">{2}.csv</a>, <a href=\"{2}.png\">{2}.png</a>, <a "
        "href=\"{2}-optimal.png\">{2}-optimal.png</a></p>\n{3}",
        escaped(figure.heading), escaped(figure.caption), figure.name, "",
        figure.columns == 1 ? " class=\"pair\"" : "");
    if (!figure.checks.empty()) {
      text += "<table><tr><th>compared</th><th>published</th><th>model</th><th></th></tr>\n";
      for (const Check& check : figure.checks) {
        const auto number = [&](double value) {
          return check.unit == "ns" ? fmt::format("{:.0f} ns", value)
                                    : fmt::format("{:.4g}{}", value, check.unit);
        };
        text += fmt::format(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
            "class=\"{}\">{}</td></tr>\n",
            escaped(check.what), number(check.published), number(check.model),
            check.agrees() ? "yes" : "no", check.agrees() ? "agrees" : "differs");
      }
      text += "</table>\n";
    }
    for (const std::string& what : figure.cannot) {
      text += fmt::format("<p><b class=\"no\">Does not agree:</b> {}</p>\n", escaped(what));
    }
  }
  return text + "</body></html>\n";
}

}  // namespace

FiguresCommand::FiguresCommand(CLI::App& app)
    : app_(app.add_subcommand("figures", "Draw the papers' figures from the model (gnuplot)")) {
  app_->allow_extras();
  app_->add_option("DIR", directory_, "Where to: index.html, pictures and CSV files (required)");
  app_->footer("Example: shortcut figures figures/\n");
}

Result<std::string> FiguresCommand::run() const {
  if (directory_.empty()) return Error{"DIR is required: where to write the figures"};
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  if (failed) {
    return Error{fmt::format("DIR: cannot make '{}': {}", directory_, failed.message())};
  }
  std::vector<Figure> figures = shortcut_figures();
  figures.push_back(harvest_figure());
  std::string said;
  for (const Figure& figure : figures) {
    const std::string stem = (std::filesystem::path(directory_) / figure.name).string();
    if (const Status s = write_file("DIR", stem + ".csv", figure.csv); !s.ok()) return s.error();
    for (const bool best : {false, true}) {
      for (const Picture format : {Picture::png, Picture::svg}) {
        const Status s =
            draw("figures", best ? figure.optimal : figure.published, figure.columns, figure.width,
                 figure.height, format,
                 stem + (best ? "-optimal" : "") + (format == Picture::png ? ".png" : ".svg"));
        if (!s.ok()) return s.error();
      }
    }
    for (const Check& check : figure.checks) {
      said += fmt::format("{:<8} {:<75} {:>10.7g} {:>10.7g} {:<3} {}\n", figure.name, check.what,
                          check.published, check.model, check.unit,
                          check.agrees() ? "agrees" : "differs");
    }
  }
  const std::string page = (std::filesystem::path(directory_) / "index.html").string();
  if (const Status s = write_file("DIR", page, page_of(figures)); !s.ok()) return s.error();
  return fmt::format("{:<8} {:<75} {:>10} {:>10}\n{}{}\n", "figure", "compared", "published",
                     "model", said, page);
}

}  // namespace shortcut::cli
