"""The library as a package for Conan 2, without the programs, bigtable::encryption and bigtable::remote.

    conan create packaging/conan --build=missing
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What the library is built from.
SOURCES = ["CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "testing/*", "messages/*"]


class BigtableConan(ConanFile):
    name = "bigtable"
    description = "The Bigtable paper as an embeddable C++20 storage engine, with a C interface"
    license = "Apache-2.0"
    topics = ("database", "storage-engine", "bigtable", "lsm-tree")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def set_version(self):
        """The version is that of project()."""
        text = load(self, os.path.join(PROJECT, "CMakeLists.txt"))
        self.version = re.search(r"project\(bigtable\s+VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, src=PROJECT, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("abseil/[>=20220623.0]", transitive_headers=True, transitive_libs=True)
        self.requires("re2/[>=20220601]")
        self.requires("xxhash/[>=0.8.0 <0.9]")
        self.requires("zstd/[>=1.5 <1.6]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("bigtable is for Linux on x86-64 or 64-bit ARM")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["BIGTABLE_BUILD_SHARED"] = bool(self.options.shared)
        for what in ("TESTS", "EXAMPLES", "TOOLS", "SERVER", "ENCRYPTION", "BENCH"):
            toolchain.cache_variables[f"BIGTABLE_BUILD_{what}"] = False
        toolchain.cache_variables["BIGTABLE_URING"] = False
        toolchain.cache_variables["BIGTABLE_WARNINGS_AS_ERRORS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()  # re2 and xxHash are found by pkg-config

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder,
             dst=os.path.join(self.package_folder, "licenses"))
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "bigtable")
        self.cpp_info.set_property("pkg_config_name", "bigtable")
        library = self.cpp_info.components["bigtable"]
        target = "bigtable::bigtable_shared" if self.options.shared else "bigtable::bigtable"
        library.set_property("cmake_target_name", target)
        library.libs = ["bigtable"]
        library.requires = ["abseil::abseil", "re2::re2", "xxhash::xxhash", "zstd::zstd"]
        library.system_libs = ["pthread"]
        testing = self.cpp_info.components["testing"]
        testing.set_property("cmake_target_name", "bigtable::testing")
        testing.libs = ["bigtable_testing"]
        testing.requires = ["bigtable"]
