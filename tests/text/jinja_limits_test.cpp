// Hostile templates end in an error, with little memory and the stack intact.
#include <gtest/gtest.h>

#include <string>

#include "text/chat_template.h"

namespace plait {
namespace {

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

void expect_refused(const std::string& source, const RenderOptions& options = {}) {
  const Result<std::string> text = render_template(source, "{}", options);
  EXPECT_FALSE(text) << source.substr(0, 80);
}

TEST(JinjaLimits, RefusesValuesThatAreTooLargeBeforeMakingThem) {
  for (const char* source :
       {"{{ 'x' * 10**12 }}", "{{ [0] * 10**12 }}", "{{ range(10**12) }}", "{{ '%1000000000000d' % 1 }}",
        "{{ '{:1000000000000}'.format(1) }}", "{{ '{:.99999999}'.format(1.5) }}", "{{ 'x'.center(10**12) }}",
        "{{ 'x'.ljust(10**15) }}", "{{ 'x'.zfill(10**12) }}", "{{ 'x' | indent(10**12) }}",
        "{{ '\t'.expandtabs(10**12) }}", "{{ [1] | batch(10**12, 0) | list }}", "{{ [1] | tojson(indent=10**12) }}",
        "{{ 'x' | center(10**12) }}", "{{ ('x' * 60000000) | list | length }}", "{{ 9223372036854775807 + 1 }}",
        "{{ 2 ** 100 }}", "{{ -(-9223372036854775807 - 1) }}", "{{ [1] | slice(10**12) | list }}"}) {
    expect_refused(source);
  }
}

TEST(JinjaLimits, StopsGrowthThatComesInSteps) {
  expect_refused(
      "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}");
  expect_refused("{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}");
  expect_refused(
      "{% set ns = namespace(s='x') %}{% for i in range(100) %}{% set ns.s = ns.s | replace('x', 'xxxxxxxx') %}{% "
      "endfor %}");
  expect_refused("{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
                 {.limits = {.output_bytes = 1000}});
  expect_refused("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
                 {.limits = {.steps = 300'000}});
}

TEST(JinjaLimits, SurvivesDeepNestingOfEveryKind) {
  const int deep = 100'000;
  for (const auto& [open, close] : std::initializer_list<std::pair<const char*, const char*>>{{"(", ")"},
                                                                                              {"[", "]"},
                                                                                              {"{1:", "}"},
                                                                                              {"-", ""},
                                                                                              {"not ", ""},
                                                                                              {"1 if 1 else ", ""},
                                                                                              {"x[", "]"},
                                                                                              {"f(", ")"}}) {
    expect_refused("{{ " + repeated(open, deep) + "1" + repeated(close, deep) + " }}");
  }
  expect_refused("{{ x" + repeated(".a", deep) + " }}");
  expect_refused("{{ 1" + repeated("|abs", deep) + " }}");
  expect_refused("{{ x" + repeated("()", deep) + " }}");
  expect_refused("{{ 1" + repeated(" if 1", deep) + " }}");
  expect_refused(repeated("{% if 1 %}", deep) + repeated("{% endif %}", deep));
  expect_refused(repeated("{% for x in [1] %}", deep));
  expect_refused("{% set " + repeated("(", deep) + "x" + repeated(")", deep) + " = 1 %}");
  expect_refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
  expect_refused("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}");
}

TEST(JinjaLimits, SurvivesDeepValues) {
  const std::string nest =
      "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}";
  EXPECT_TRUE(render_template(nest + "ok", "{}", {}));
  expect_refused(nest + "{{ ns.x }}");
  expect_refused(nest + "{{ ns.x | tojson }}");
  expect_refused(nest + "{% set a = ns.x %}{% set ns.x = [] %}" + nest + "{{ a == ns.x }}");
  expect_refused(
      "{% set ns = namespace(x=()) %}{% for i in range(50000) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ {ns.x: 1} }}");
  EXPECT_TRUE(
      render_template("{% set ns = namespace() %}{% set ns.me = ns %}{% macro m() %}{{ m }}{% endmacro %}", "{}", {}));
  expect_refused("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}");
}

TEST(JinjaLimits, AreThoseOfTheCaller) {
  EXPECT_FALSE(render_template("{% for i in range(100) %}{% endfor %}", "{}", {.limits = {.steps = 50}}));
  EXPECT_TRUE(render_template("{% for i in range(100) %}{% endfor %}", "{}", {.limits = {.steps = 5000}}));
  EXPECT_FALSE(render_template("{{ 'x' * 101 }}", "{}", {.limits = {.output_bytes = 100}}));
  EXPECT_FALSE(render_template("{{ ((((((1)))))) }}", "{}", {.limits = {.depth = 5}}));
}

TEST(JinjaLimits, LongFlatTemplatesAreFine) {
  const auto sum = render_template("{{ 1" + repeated(" + 1", 20'000) + " }}", "{}", {});
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(*sum, "20001");
  EXPECT_TRUE(render_template(repeated("{% if x %}{{ x }}{% else %}-{% endif %}\n", 20'000), "{}", {}));
  EXPECT_TRUE(render_template("{% if 0 %}" + repeated("{% elif 0 %}", 20'000) + "{% endif %}", "{}", {}));
}

}  // namespace
}  // namespace plait
