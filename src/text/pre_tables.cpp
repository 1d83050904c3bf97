// Pre-tokenizers as data: the patterns are the model makers' published ones, as facts of their vocabularies.
// Where a pattern says white space it is Unicode's; lines longer than the rest of the code hold one pattern each.
#include "text/pre_tables.h"

#include <algorithm>

namespace plait {
namespace {

// clang-format off
constexpr std::string_view kGpt2 = R"re('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kLlama3 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kQwen2 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kQwen35 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kGpt4o =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll)re"
    R"re(|'d)?|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll)re"
    R"re(|'d)?|)re"
    R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kTekken =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kNumber = R"re(\p{N})re";
constexpr std::string_view kUpToThreeNumbers = R"re(\p{N}{1,3})re";
constexpr std::string_view kNumbers = R"re(\p{N}+)re";
constexpr std::string_view kThreeDigits = R"re([0-9][0-9][0-9])re";
constexpr std::string_view kLineEnd = R"re([\r\n])re";
constexpr std::string_view kLines = R"re([^\n]+|[\n]+)re";
// Its ladder \s{512}(?!\S)|\s{256}(?!\S)|... is the step kSpaceRuns.
constexpr std::string_view kJais2 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s)re";
constexpr std::string_view kDeepseekLlm2 =
    R"re(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ)re"
    R"re(Ὗ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ)re"
    R"re(𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)re";
constexpr std::string_view kDeepseekLlm3 = R"re(\s?[!-/:-~！-／：-～‘-‟　-。]+)re";
constexpr std::string_view kDeepseekLlm5 = R"re([一-龥ࠀ-一가-퟿]+)re";
constexpr std::string_view kDeepseek3Llm2 = R"re([一-龥぀-ゟ゠-ヿ]+)re";
constexpr std::string_view kDeepseek3Llm3 =
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)re"
    R"re( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kYoutu1 = R"re([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)re";
constexpr std::string_view kYoutu2 =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sS]|'[tT]|'[rR][eE])re"
    R"re(|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'[sS]|'[tT]|'[rR][eE])re"
    R"re(|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|)re"
    R"re(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kDeepseekCoder2 = R"re(\s?\p{L}+)re";
constexpr std::string_view kDeepseekCoder3 = R"re(\s?\p{P}+)re";
constexpr std::string_view kFalcon1 = R"re([\p{P}\$\+<=>\^~\|`]+)re";
constexpr std::string_view kPoro = R"re( ?[^(\s|.,!?…。，、।۔،)]+)re";
constexpr std::string_view kChameleon1 = R"re(<sentinel:[0-9]+>)re";
constexpr std::string_view kChameleon2 = R"re((IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z)re";
constexpr std::string_view kChameleon3 = R"re(([\t\n]|    |  ))re";
constexpr std::string_view kChameleon5 = R"re([\p{P}!-/:-@\[-`{-~])re";
// Letters and marks but a-z, then letters and marks but A-Z, each as a negation.
constexpr std::string_view kGraniteEmbMulti =
    R"re([^\r\n\p{L}\p{N}]?[^\p{N}\p{P}\p{S}\p{Z}\p{C}a-z]*[^\p{N}\p{P}\p{S}\p{Z}\p{C}A-Z]+(?i:'s|'t|'re|'ve|)re"
    R"re('m|'ll|'d)?|)re"
    R"re([^\r\n\p{L}\p{N}]?[^\p{N}\p{P}\p{S}\p{Z}\p{C}a-z]+[^\p{N}\p{P}\p{S}\p{Z}\p{C}A-Z]*(?i:'s|'t|'re|'ve|)re"
    R"re('m|'ll|'d)?|)re"
    R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
// The published [[A]&&[^\p{Han}]] is written as the negation of everything outside A, and of Han.
constexpr std::string_view kKimiK2 =
    R"re(\p{sc:Han}+|)re"
    R"re([^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}]*[^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z})re"
    R"re(\p{C}\p{sc:Han}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re([^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}]+[^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z})re"
    R"re(\p{C}\p{sc:Han}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kBailingmoe =
    R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|)re"
    R"re(\s+(?!\S)|\s+)re";
constexpr std::string_view kSeedCoder =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kAfmoe2 = R"re([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)re";
constexpr std::string_view kLaguna2 =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
// The published nested repetition, flattened: the same matches without anything to go back to.
constexpr std::string_view kExaoneMoe =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}(?:[\p{L}\p{M}]++| \p{L})*+|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)re";
constexpr std::string_view kMinicpm52 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kWhitespace = R"re(\S+)re";
constexpr std::string_view kDefault1 = R"re([\p{P}\$\+<=>\^~\|]+)re";

constexpr SplitStep kStepsLlama3[] = {{StepKind::kPattern, kLlama3}};
constexpr SplitStep kStepsJais2[] = {{StepKind::kPattern, kJais2}, {StepKind::kSpaceRuns}};
constexpr SplitStep kStepsDeepseekLlm[] = {
    {StepKind::kPattern, kLineEnd},
    {StepKind::kPattern, kDeepseekLlm2},
    {StepKind::kPattern, kDeepseekLlm3},
    {StepKind::kTrailingSpace},
    {StepKind::kPattern, kDeepseekLlm5},
    {StepKind::kPattern, kNumbers}};
constexpr SplitStep kStepsDeepseek3Llm[] = {
    {StepKind::kPattern, kUpToThreeNumbers},
    {StepKind::kPattern, kDeepseek3Llm2},
    {StepKind::kPattern, kDeepseek3Llm3}};
constexpr SplitStep kStepsYoutu[] = {{StepKind::kPattern, kYoutu1}, {StepKind::kPattern, kYoutu2}};
constexpr SplitStep kStepsDeepseekCoder[] = {
    {StepKind::kPattern, kLineEnd},
    {StepKind::kPattern, kDeepseekCoder2},
    {StepKind::kPattern, kDeepseekCoder3},
    {StepKind::kPattern, kDeepseekLlm5},
    {StepKind::kPattern, kNumber}};
constexpr SplitStep kStepsFalcon[] = {
    {StepKind::kPattern, kFalcon1},
    {StepKind::kPattern, kGpt2},
    {StepKind::kPattern, kThreeDigits}};
constexpr SplitStep kStepsStarcoder[] = {{StepKind::kPattern, kNumber}, {StepKind::kPattern, kGpt2}};
constexpr SplitStep kStepsGpt2[] = {{StepKind::kPattern, kGpt2}};
constexpr SplitStep kStepsStablelm2[] = {{StepKind::kPattern, kQwen2}};
constexpr SplitStep kStepsQwen35[] = {{StepKind::kPattern, kQwen35}};
constexpr SplitStep kStepsPoro[] = {{StepKind::kPattern, kPoro}};
constexpr SplitStep kStepsViking[] = {{StepKind::kPattern, kPoro}, {StepKind::kPattern, kNumber}};
constexpr SplitStep kStepsTekken[] = {{StepKind::kPattern, kTekken}};
constexpr SplitStep kStepsChameleon[] = {
    {StepKind::kPattern, kChameleon1},
    {StepKind::kPattern, kChameleon2},
    {StepKind::kPattern, kChameleon3},
    {StepKind::kPattern, kNumber},
    {StepKind::kPattern, kChameleon5},
    {StepKind::kPattern, kGpt2}};
constexpr SplitStep kStepsGpt4o[] = {{StepKind::kPattern, kGpt4o}};
constexpr SplitStep kStepsGraniteEmbMulti[] = {{StepKind::kPattern, kGraniteEmbMulti}};
constexpr SplitStep kStepsTinyAya[] = {{StepKind::kWholeNumbers}, {StepKind::kPattern, kGpt4o}};
constexpr SplitStep kStepsKimiK2[] = {{StepKind::kPattern, kKimiK2}};
constexpr SplitStep kStepsSuperbpe[] = {{StepKind::kPattern, kNumbers}, {StepKind::kDigitGroups}};
constexpr SplitStep kStepsBailingmoe[] = {{StepKind::kPattern, kBailingmoe}};
constexpr SplitStep kStepsSeedCoder[] = {{StepKind::kPattern, kSeedCoder}};
constexpr SplitStep kStepsAfmoe[] = {
    {StepKind::kNumberGroups},
    {StepKind::kPattern, kAfmoe2},
    {StepKind::kPattern, kDeepseek3Llm3}};
constexpr SplitStep kStepsLaguna[] = {{StepKind::kPattern, kLines}, {StepKind::kPattern, kLaguna2}};
constexpr SplitStep kStepsExaoneMoe[] = {{StepKind::kPattern, kExaoneMoe}};
constexpr SplitStep kStepsGemma4[] = {{StepKind::kPattern, kLines}};
constexpr SplitStep kStepsMinicpm5[] = {{StepKind::kPattern, kUpToThreeNumbers}, {StepKind::kPattern, kMinicpm52}};
constexpr SplitStep kStepsWhitespace[] = {{StepKind::kPattern, kWhitespace}};
constexpr SplitStep kStepsDefault[] = {
    {StepKind::kPattern, kDefault1},
    {StepKind::kPattern, kGpt2},
    {StepKind::kPattern, kNumbers},
    {StepKind::kPattern, kThreeDigits}};

constexpr PreFamily kFamilies[] = {
    {.name = "llama3", .steps = kStepsLlama3},
    {.name = "jais2", .steps = kStepsJais2},
    {.name = "dbrx", .steps = kStepsLlama3},
    {.name = "smaug", .steps = kStepsLlama3},
    {.name = "deepseek_llm", .steps = kStepsDeepseekLlm},
    {.name = "deepseek3_llm", .steps = kStepsDeepseek3Llm},
    {.name = "hunyuan_dense", .steps = kStepsDeepseek3Llm},
    {.name = "joyai_llm", .steps = kStepsDeepseek3Llm},
    {.name = "youtu", .steps = kStepsYoutu},
    {.name = "deepseek_coder", .steps = kStepsDeepseekCoder},
    {.name = "falcon", .steps = kStepsFalcon},
    {.name = "starcoder", .steps = kStepsStarcoder},
    {.name = "refact", .steps = kStepsStarcoder},
    {.name = "command_r", .steps = kStepsStarcoder},
    {.name = "smollm", .steps = kStepsStarcoder},
    {.name = "codeshell", .steps = kStepsStarcoder},
    {.name = "exaone", .steps = kStepsStarcoder},
    {.name = "minerva", .steps = kStepsStarcoder},
    {.name = "mellum2", .steps = kStepsStarcoder},
    {.name = "gpt2", .steps = kStepsGpt2},
    {.name = "mpt", .steps = kStepsGpt2},
    {.name = "olmo", .steps = kStepsGpt2},
    {.name = "jais", .steps = kStepsGpt2},
    {.name = "trillion", .steps = kStepsGpt2},
    {.name = "granite_docling", .steps = kStepsGpt2},
    {.name = "stablelm2", .steps = kStepsStablelm2},
    {.name = "qwen2", .steps = kStepsStablelm2, .nfc = true},
    {.name = "hunyuan", .steps = kStepsStablelm2},
    {.name = "solar_open", .steps = kStepsStablelm2},
    {.name = "qwen35", .steps = kStepsQwen35, .nfc = true},
    {.name = "poro", .steps = kStepsPoro},
    {.name = "bloom", .steps = kStepsPoro},
    {.name = "gpt3_finnish", .steps = kStepsPoro},
    {.name = "chatglm4", .steps = kStepsLlama3},
    {.name = "viking", .steps = kStepsViking},
    {.name = "tekken", .steps = kStepsTekken},
    {.name = "chameleon", .steps = kStepsChameleon},
    {.name = "gpt4o", .steps = kStepsGpt4o},
    {.name = "minimax_m2", .steps = kStepsGpt4o},
    {.name = "granite_emb_multi", .steps = kStepsGraniteEmbMulti},
    {.name = "tiny_aya", .steps = kStepsTinyAya},
    {.name = "kimi_k2", .steps = kStepsKimiK2},
    {.name = "superbpe", .steps = kStepsSuperbpe},
    {.name = "bailingmoe", .steps = kStepsBailingmoe},
    {.name = "seed_coder", .steps = kStepsSeedCoder},
    {.name = "grok_2", .steps = kStepsStablelm2},
    {.name = "afmoe", .steps = kStepsAfmoe},
    {.name = "laguna", .steps = kStepsLaguna},
    {.name = "exaone_moe", .steps = kStepsExaoneMoe},
    {.name = "gemma4", .steps = kStepsGemma4, .byte_level = false},
    {.name = "sarvam_moe", .steps = kStepsGemma4, .byte_level = false},
    {.name = "minicpm5", .steps = kStepsMinicpm5},
    {.name = "whitespace", .steps = kStepsWhitespace, .byte_level = false},
    {.name = "default", .steps = kStepsDefault},
};

constexpr PreName kNames[] = {
    {.name = "default", .family = "default"},
    {.name = "minicpm5", .family = "minicpm5", .ignore_merges = true},
    {.name = "llama3", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "llama-bpe", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "jina-v5-nano", .family = "llama3", .ignore_merges = true, .add_bos = true},
    {.name = "deepseek-llm", .family = "deepseek_llm"},
    {.name = "deepseek-coder", .family = "deepseek_coder"},
    {.name = "deepseek-v3", .family = "deepseek3_llm"},
    {.name = "youtu", .family = "youtu", .ignore_merges = true},
    {.name = "falcon", .family = "falcon"},
    {.name = "mpt", .family = "mpt"},
    {.name = "starcoder", .family = "starcoder"},
    {.name = "gpt-2", .family = "gpt2"},
    {.name = "phi-2", .family = "gpt2"},
    {.name = "jina-es", .family = "gpt2"},
    {.name = "jina-de", .family = "gpt2"},
    {.name = "gigachat", .family = "gpt2"},
    {.name = "jina-v2-es", .family = "gpt2"},
    {.name = "jina-v2-de", .family = "gpt2"},
    {.name = "a.x-4.0", .family = "gpt2"},
    {.name = "mellum", .family = "gpt2"},
    {.name = "modern-bert", .family = "gpt2"},
    {.name = "jais-2", .family = "jais2"},
    {.name = "gemma4", .family = "gemma4", .escape_spaces = true},
    {.name = "granite-embed-multi-311m", .family = "gemma4", .escape_spaces = true},
    {.name = "sarvam-moe", .family = "sarvam_moe", .escape_spaces = true},
    {.name = "jina-v1-en", .family = "gpt2"},
    {.name = "jina-v2-code", .family = "gpt2"},
    {.name = "roberta-bpe", .family = "gpt2"},
    {.name = "whitespace", .family = "whitespace"},
    {.name = "refact", .family = "refact"},
    {.name = "command-r", .family = "command_r"},
    {.name = "qwen2", .family = "qwen2"},
    {.name = "deepseek-r1-qwen", .family = "qwen2"},
    {.name = "kormo", .family = "qwen2"},
    {.name = "f2llmv2", .family = "qwen2"},
    {.name = "qwen35", .family = "qwen35"},
    {.name = "stablelm2", .family = "stablelm2"},
    {.name = "olmo", .family = "olmo"},
    {.name = "dbrx", .family = "dbrx"},
    {.name = "smaug-bpe", .family = "smaug"},
    {.name = "poro-chat", .family = "poro"},
    {.name = "glm4", .family = "chatglm4"},
    {.name = "chatglm-bpe", .family = "chatglm4"},
    {.name = "viking", .family = "viking"},
    {.name = "jais", .family = "jais"},
    {.name = "tekken", .family = "tekken", .ignore_merges = true, .add_bos = true},
    {.name = "smollm", .family = "smollm"},
    {.name = "codeshell", .family = "codeshell"},
    {.name = "bloom", .family = "bloom"},
    {.name = "gpt3-finnish", .family = "gpt3_finnish"},
    {.name = "exaone", .family = "exaone"},
    {.name = "exaone4", .family = "gpt2"},
    {.name = "exaone-moe", .family = "exaone_moe"},
    {.name = "chameleon", .family = "chameleon", .add_bos = true},
    {.name = "minerva-7b", .family = "minerva"},
    {.name = "megrez", .family = "qwen2"},
    {.name = "gpt-4o", .family = "gpt4o"},
    {.name = "llama4", .family = "gpt4o"},
    {.name = "kanana2", .family = "gpt4o"},
    {.name = "talkie", .family = "gpt4o"},
    {.name = "granite-embed-multi-97m", .family = "granite_emb_multi", .ignore_merges = true},
    {.name = "tiny_aya", .family = "tiny_aya"},
    {.name = "cohere2moe", .family = "tiny_aya"},
    {.name = "superbpe", .family = "superbpe"},
    {.name = "trillion", .family = "trillion"},
    {.name = "granite-docling", .family = "granite_docling"},
    {.name = "bailingmoe", .family = "bailingmoe"},
    {.name = "bailingmoe2", .family = "bailingmoe"},
    {.name = "llada-moe", .family = "bailingmoe"},
    {.name = "seed-coder", .family = "seed_coder"},
    {.name = "hunyuan", .family = "hunyuan"},
    {.name = "hunyuan-dense", .family = "hunyuan_dense"},
    {.name = "joyai-llm", .family = "joyai_llm"},
    {.name = "kimi-k2", .family = "kimi_k2"},
    {.name = "grok-2", .family = "grok_2"},
    {.name = "afmoe", .family = "afmoe"},
    {.name = "laguna", .family = "laguna"},
    {.name = "minimax-m2", .family = "minimax_m2"},
    {.name = "solar-open", .family = "solar_open"},
    {.name = "mellum2", .family = "mellum2"},
};
// clang-format on

}  // namespace

std::span<const PreFamily> pre_families() { return kFamilies; }
std::span<const PreName> pre_names() { return kNames; }

const PreFamily* find_pre_family(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const PreFamily& f) { return f.name == name; });
  return found == std::end(kFamilies) ? nullptr : found;
}

const PreName* find_pre_name(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const PreName& n) { return n.name == name; });
  return found == std::end(kNames) ? nullptr : found;
}

}  // namespace plait
