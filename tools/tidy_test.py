#!/usr/bin/env python3
"""Shows that tidy.py can fail: for each rule a file that breaks it, and one beside it that does not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tidy  # noqa: E402

HEADER = "// What is here.\n#pragma once\n"


def faults(path, text):
    return [what for _, what in tidy.check_file(path, text)]


class TidyTest(unittest.TestCase):
    def assert_fault(self, path, text, words):
        found = faults(path, text)
        self.assertTrue(any(words in what for what in found), f"{path}: {found}")

    def assert_clean(self, path, text):
        self.assertEqual(faults(path, text), [])

    def test_dependencies(self):
        def include(name):
            return f'// What is here.\n#include "{name}"\n'
        breaches = [("src/base/x.cpp", "io/gguf.h"), ("src/formats/x.cpp", "kernels/linear.h"), ("src/mixers/x.cpp", "ffn/glu.h"),
                    ("src/ffn/x.cpp", "mixers/attention.h"), ("src/mixers/x.cpp", "kernels/linear.h"), ("src/models/x.cpp", "isa/select.h"),
                    ("src/backend/backends.cpp", "isa/select.h"), ("src/server/x.cpp", "engine/engine.h"), ("apps/plait/x.cpp", "engine/engine.h"),
                    ("include/plait/x.h", "base/mat.h"), ("src/io/x.cpp", "curl/curl.h"), ("src/io/x.cpp", "pcre2.h"), ("src/io/x.cpp", "gtest/gtest.h")]
        for path, name in breaches:
            with self.subTest(path=path, name=name):
                self.assert_fault(path, include(name), "include")
        for path, name in [("src/base/x.cpp", "plait/result.h"), ("src/io/x.cpp", "formats/all.h"), ("src/backend/cpu/x.cpp", "isa/select.h"),
                           ("src/mixers/x.cpp", "kernels/kernels.h"), ("tests/isa/x.cpp", "isa/select.h"), ("apps/plait/x.cpp", "examine/logits.h")]:
            with self.subTest(path=path, name=name):
                self.assert_clean(path, include(name))

    def test_calls(self):
        breaches = [('getenv("HOME");', "environment"), ('std::printf("x");', "prints"), ("std::cout << 1;", "prints"), ('fmt::print("x");', "prints"),
                    ("std::exit(1);", "ends"), ("abort();", "ends"), ("throw 1;", "throws"), ("x = rand();", "random"), ("strcpy(a, b);", "bounds"),
                    ("sprintf(a, b);", "bounds"), ("system(a);", "shell"), ("std::shared_ptr<int> a;", "owners"), ("assert(x);", "assert")]
        for line, words in breaches:
            with self.subTest(line=line):
                self.assert_fault("src/io/x.cpp", f"// What is here.\n{line}\n", words)
        for line in ["// getenv(x), throw", 'f("printf(");', "object.rand();", "static_assert(x);", "std::snprintf(a, 1, b);", "on_exit_of(x);",
                     "file.system(x);", "R\"(throw)\";", "char c = '\"'; // throw"]:
            with self.subTest(line=line):
                self.assert_clean("src/io/x.cpp", f"// What is here.\n{line}\n")
        self.assert_clean("apps/plait/x.cpp", '// What is here.\ngetenv("HOME"); std::printf("x");\n')
        self.assert_fault("apps/plait/x.cpp", "// What is here.\nthrow 1;\n", "throws")

    def test_layout(self):
        self.assert_clean("src/io/x.h", HEADER)
        self.assert_fault("src/io/x.h", "// What is here.\nint x;\n", "#pragma once")
        self.assert_fault("src/io/x.cpp", "int x;\n", "first line")
        self.assert_fault("src/io/x.cpp", "// What is here.\n// " + "x" * 120 + "\n", "columns")
        self.assert_clean("src/io/x.cpp", "// What is here.\n// " + "\u00e4" * 117 + "\n")
        self.assert_fault("src/io/x.cpp", "// What is here.\nint x; \n", "blanks")
        self.assert_fault("src/io/x.cpp", "// What is here.", "line break")
        self.assert_fault("src/io/x.cpp", "// What is here.\n" + "int x;\n" * 400, "lines")
        self.assert_clean("src/io/x.cpp", "// What is here.\n// It is long because it is one table.\n" + "int x;\n" * 400)

    def test_page(self):
        for line, words in [("node.innerHTML = text;", "markup"), ("document.write(text);", "markup"), ("eval(text);", "code"),
                            ('const f = new Function("x");', "code"), ('<script src="https://cdn.example/x.js"></script>', "away"),
                            ("@import 'x.css';", "away"), ("a { background: url(//x.example/y) }", "away"), ('fetch("http://127.0.0.1/");', "where"),
                            ('<p onclick="x()">', "attribute"), ('<p class="a" style="color: red">', "attribute")]:
            with self.subTest(line=line):
                self.assert_fault("src/server/page/x.js", f"// What is here.\n{line}\n", words)
        self.assert_fault("src/server/page/x.js", "const x = 1;\n", "first line")
        self.assert_fault("src/server/page/x.html", "<!doctype html>\n<html>\n", "first line")
        self.assert_clean("src/server/page/x.html", '<!doctype html>\n<!-- What is here. -->\n<link href="page/style.css">\n')
        self.assert_clean("src/server/page/x.js", '// What is here.\nh("button", {onclick: f}, "throw");\nnode.style.width = "1px";\n')

    def test_functions(self):
        def function(lines, head="int f(int a)"):
            return "// What is here.\nnamespace plait {\n" + head + " {\n" + "  if (a) { a = 1; }\n" * (lines - 2) + "}\n}\n"
        for head in ("int f(int a)", "A::A(int a) : b_(a)", "TEST(A, B)", "template <class T>\nauto f(T a) -> int"):
            with self.subTest(head=head):
                self.assert_fault("src/io/x.cpp", function(71, head), "function of")
                self.assert_clean("src/io/x.cpp", function(70 - head.count("\n"), head))
        self.assert_clean("src/io/x.cpp", "// What is here.\nconst int kTable[] = {\n" + "  f(1),\n" * 100 + "};\n")
        self.assert_clean("src/io/x.cpp", "// What is here.\nclass A : public B<int> {\n" + "  int f() { return 1; }\n" * 100 + "};\n")

    def test_weak_symbols(self):
        good = "0000 W void plait::linear<plait::Avx2, plait::Q4_0>(int)\n0010 T plait::f()\n         U std::terminate()\n0020 V DW.ref.__gxx_personality_v0\n"
        self.assertEqual(list(tidy.weak_symbol_faults(good, ["Avx2"])), [])
        for bad in ("0000 W plait::half_to_float(unsigned short)", "0000 u std::vector<int>::f()::x", "0000 W void plait::linear<plait::Avx2Old>(int)"):
            self.assertEqual(len(list(tidy.weak_symbol_faults(bad + "\n", ["Avx2"]))), 1)

    def test_exit_status_from_outside(self):
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root) / "src" / "io"
            folder.mkdir(parents=True)
            run = [sys.executable, str(HERE / "tidy.py"), "--root", root]
            self.assertEqual(subprocess.run(run, capture_output=True).returncode, 1, "nothing to read is a breach")
            (folder / "x.h").write_text(HEADER)
            self.assertEqual(subprocess.run(run, capture_output=True).returncode, 0)
            (folder / "y.h").write_text(HEADER + "int f() { throw 1; }\n")
            result = subprocess.run(run, capture_output=True, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("src/io/y.h:3: throws", result.stdout)


if __name__ == "__main__":
    unittest.main()
