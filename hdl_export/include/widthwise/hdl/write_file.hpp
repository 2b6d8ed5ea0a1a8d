#pragma once
#include <filesystem>
#include <string_view>

namespace widthwise::hdl {

// The whole text or nothing: it is written beside the target and then renamed to it, so that after
// an error the old file stands as it stood. std::system_error names the path and the reason.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace widthwise::hdl
