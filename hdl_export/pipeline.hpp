#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Which signals cross the registers between a pipeline's stages.
namespace widthwise::hdl {

// A stage and the signals that the register behind it holds, in the order of their first reader.
struct StageRegister {
  std::string stage;
  std::vector<std::string> signals;
};

// A signal belongs to the stage that makes it. What a later stage reads has passed the registers of
// all stages between: NAME_after_STAGE is the signal NAME behind the register of STAGE.
class Pipeline {
 public:
  // The next stage, where signals are read and made from now on.
  void open(std::string_view stage);
  // Further stages whose registers are inside a module: it is read before them, its wires come out
  // in the last.
  void reach_over(const std::vector<std::string_view>& further);
  void arrive() { reading_ = making_; }

  // `declaration` is all but the name: "wire signed [5:0] ".
  void make(const std::string& signal, const std::string& declaration, int width);
  // An expression as the current stage sees its signals.
  std::string read(const std::string& expression);
  bool has_signals(const std::string& expression) const;

  const std::vector<StageRegister>& stages() const { return stages_; }
  std::size_t reading() const { return reading_; }
  std::size_t making() const { return making_; }
  // A signal of a register's list in front of the register and behind it.
  std::string before(const std::string& signal, std::size_t stage) const;
  std::string after(const std::string& signal, std::size_t stage) const;
  const std::string& declaration(const std::string& signal) const;
  int width(std::size_t stage) const;  // of its register

 private:
  struct Signal {
    std::string declaration;
    int width;
    std::size_t made_in;
  };
  std::string carried(const std::string& signal, const Signal& s);

  std::map<std::string, Signal, std::less<>> signals_;
  std::vector<StageRegister> stages_;
  std::size_t reading_ = 0, making_ = 0;
};

}  // namespace widthwise::hdl
